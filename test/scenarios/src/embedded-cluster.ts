// SPDX-License-Identifier: Apache-2.0

// A complete cluster in this process: API server, scheduler, kubelets and controllers, with the custom resources
// installed.
import {
  type Cluster,
  type ControllersOptions,
  createCluster,
  inProcessTransport,
  plainNodes,
  startControllers,
} from '@grove/cluster'
import { type Client, type Clock, createClientOn, defineResource, type KubeObject } from '@grove/kube'
import { installCustomResources } from './custom-kinds.ts'
import { type WriteCount, writeCounter } from './harness.ts'

export const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

export interface EmbeddedCluster {
  readonly cluster: Cluster
  /** The client of the test. */
  readonly client: Client
  /** Returns another client, which records its writes: all of them, or those to one namespace. */
  connect(writes: WriteCount[], namespace?: string): Client
  newNamespace(name: string): Promise<string>
  stop(): Promise<void>
}

export async function startEmbeddedCluster(
  options: { nodes?: number; clock?: Clock; controllers?: (cluster: Cluster) => ControllersOptions } = {},
): Promise<EmbeddedCluster> {
  const clock = options.clock && { clock: options.clock }
  const cluster = createCluster({ ...clock })
  const client = createClientOn(inProcessTransport(cluster.handle))
  await installCustomResources(client)
  const controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle)), {
    ...clock,
    serviceAccounts: { tokenIssuer: cluster.tokens },
    ...options.controllers?.(cluster),
  })
  await controllers.fleet.add(plainNodes(options.nodes ?? 20, { gpus: 8 }))
  return {
    cluster,
    client,
    connect: (writes, namespace) =>
      createClientOn(inProcessTransport(cluster.handle), {
        ...clock,
        userAgent: 'grove-operator/test',
        onRequest: writeCounter(writes, namespace),
      }),
    newNamespace: async name => {
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      return name
    },
    stop: async () => {
      await controllers.stop()
      cluster.stop()
    },
  }
}
