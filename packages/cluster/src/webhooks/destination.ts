// SPDX-License-Identifier: Apache-2.0

import { objectKey } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { Store } from '../store/index.ts'
import type { Hook } from './hooks.ts'

/** The address of a webhook, and the name in its certificate. */
export interface Destination {
  /** The URL in error messages. */
  readonly url: URL
  readonly host: string
  readonly port: number
  readonly serverName: string
}

const httpsPort = 443

/** Throws an Error with the message of the real API server if there is no destination. */
export function destinationOf({ clientConfig = {} }: Hook, store: Store): Destination {
  const { service } = clientConfig
  if (service) {
    const { namespace = '', name = '', path = '', port = httpsPort } = service
    const serverName = `${name}.${namespace}.svc`
    const url = new URL(`https://${serverName}:${port}`)
    // URL drops the default port, but messages of the real API server contain it.
    url.pathname = path
    return { url, host: resolve(store, namespace, name, port), port, serverName }
  }
  if (!clientConfig.url) throw new Error('webhook configuration must have either service or URL')
  const url = new URL(clientConfig.url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { url, host, port: Number(url.port || httpsPort), serverName: host }
}

/**
 * Only Services of type ExternalName are reachable. Cluster IPs are not: there is no kube-proxy, and pods are
 * simulated.
 */
function resolve(store: Store, namespace: string, name: string, port: number): string {
  const service = store.get(storages.services, objectKey(namespace, name))
  if (!service) throw new Error(`service ${JSON.stringify(name)} not found`)
  const { type, externalName, clusterIP } = service.spec ?? {}
  if (type === 'ExternalName') return externalName ?? ''
  if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"')
  if (!service.spec?.ports?.some(each => each.port === port))
    throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  throw new Error(`dial tcp ${clusterIP}:${port}: connect: connection refused`)
}
