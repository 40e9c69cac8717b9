// SPDX-License-Identifier: Apache-2.0

import { createSecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import type { ClusterConfig, TlsMaterial } from './cluster-config.ts'
import { openTunnel } from './tunnel.ts'

export interface ConnectorOptions {
  readonly http2?: boolean
  /** Longest wait for a connection, including the TLS handshake. */
  readonly connectTimeoutMs?: number
}

const defaultConnectTimeoutMs = 10_000

/** Opens connections with the current material. A renewed CA or certificate is used from the next connection on. */
export function createConnector(
  config: Pick<ClusterConfig, 'tls' | 'proxy'>,
  options: ConnectorOptions = {},
): buildConnector.connector {
  const timeoutMs = options.connectTimeoutMs ?? defaultConnectTimeoutMs
  let builtFor: TlsMaterial | undefined
  let built: buildConnector.connector | undefined

  async function open(target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    const material = await config.tls()
    const httpSocket = config.proxy ? await openTunnel(config.proxy, target, timeoutMs) : undefined
    if (target.protocol !== 'https:' && httpSocket) return callback(null, httpSocket)
    if (!built || builtFor !== material) {
      // Also drops the TLS sessions of the old material, which rely on the old CA.
      built = buildConnector(connectionOptions(material, options.http2 ?? false, timeoutMs))
      builtFor = material
    }
    built({ ...target, servername: material.serverName ?? target.servername, httpSocket }, callback)
  }

  return (target, callback) => {
    open(target, callback).catch((error: Error) => callback(error, null))
  }
}

function connectionOptions(
  material: TlsMaterial,
  http2: boolean,
  timeout: number,
): buildConnector.BuildOptions {
  return {
    allowH2: http2,
    preferH2: http2,
    timeout,
    secureContext: createSecureContext({
      ca: material.ca,
      cert: material.certificate,
      key: material.key,
      minVersion: 'TLSv1.2',
    }),
    rejectUnauthorized: !material.insecureSkipVerify,
  }
}
