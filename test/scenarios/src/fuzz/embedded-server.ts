// SPDX-License-Identifier: Apache-2.0

// The program of the child process that embedded-process.ts starts: the embedded cluster behind HTTPS, without an
// operator. It receives its certificates as its first message, sends its URL, and ends when its parent does.
import {
  type ClusterCertificates,
  createCluster,
  inProcessTransport,
  plainNodes,
  serveHttps,
  startControllers,
} from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { installCustomResources } from '../custom-kinds.ts'

export interface ServerOrder {
  readonly certificates: ClusterCertificates
  readonly nodes: number
}

process.once('disconnect', () => process.exit(0))
process.once('message', async (order: ServerOrder) => {
  const cluster = createCluster({
    authorization: 'rbac',
    serviceAccountAdmission: true,
    eventTtlMs: 60_000,
    onInternalError: error => console.error(error),
  })
  const client = createClientOn(inProcessTransport(cluster.handle))
  await installCustomResources(client)
  const controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle)), {
    serviceAccounts: { tokenIssuer: cluster.tokens, caCertificate: order.certificates.authority },
  })
  await controllers.fleet.add(plainNodes(order.nodes, { gpus: 8 }))
  const { url } = await serveHttps({
    handle: cluster.handle,
    authenticate: cluster.authenticate,
    certificates: order.certificates,
  })
  process.send?.({ url })
})
