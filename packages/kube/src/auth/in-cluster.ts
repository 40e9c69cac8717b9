// SPDX-License-Identifier: Apache-2.0

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterConfig } from '../client/cluster-config.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { ConfigError } from './config-error.ts'
import { proxyFor } from './environment-proxy.ts'
import { TlsFiles } from './tls-files.ts'
import { tokenFileCredentials } from './token-credentials.ts'

/** The kubelet mounts the service account of a pod here. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface InClusterOptions {
  readonly directory?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

/** Reports whether this process runs in a pod with a service account. */
export function isInCluster(options: InClusterOptions = {}): boolean {
  const { directory = serviceAccountDirectory, environment = process.env } = options
  return Boolean(environment.KUBERNETES_SERVICE_HOST) && existsSync(join(directory, 'token'))
}

/** The cluster that this pod runs in. The token and the CA are read again when the kubelet renews them. */
export function inClusterConfig(options: InClusterOptions = {}): ClusterConfig {
  const { directory = serviceAccountDirectory, environment = process.env, clock = systemClock } = options
  const host = environment.KUBERNETES_SERVICE_HOST
  const port = environment.KUBERNETES_SERVICE_PORT
  if (!host || !port)
    throw new ConfigError(
      'this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    )
  const token = join(directory, 'token')
  if (!existsSync(token))
    throw new ConfigError(`this pod has no service account token: ${token} does not exist`)
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const tls = new TlsFiles({ ca: { file: join(directory, 'ca.crt') } }, clock)
  return {
    server,
    namespace: readNamespace(join(directory, 'namespace')),
    tls: () => tls.current(),
    credentials: tokenFileCredentials(token, clock),
    proxy: proxyFor(server, environment),
  }
}

function readNamespace(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim() || 'default'
  } catch {
    return 'default'
  }
}
