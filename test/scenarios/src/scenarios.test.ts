// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import { waiter } from '@grove/api'
import {
  type Cluster,
  createCluster,
  inProcessTransport,
  plainNodes,
  type RunningControllers,
  startControllers,
} from '@grove/cluster'
import { type Client, createClientOn, defineResource, type KubeObject } from '@grove/kube'
import { runWaiter } from '@grove/waiter'
import { installCustomResources, Stage, type WriteCount } from './stage.ts'
import { embeddedStories, stories } from './stories/index.ts'

const readVerbs = new Set(['get', 'list', 'watch', 'find'])
const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

describe('stories on the embedded cluster', () => {
  let cluster: Cluster
  let controllers: RunningControllers
  let client: Client

  before(async () => {
    cluster = createCluster()
    client = connect()
    await installCustomResources(client)
    controllers = await startControllers(connect(), {
      kubelet: {
        runInitContainer: (pod, container, { signal, log }) =>
          container.name === waiter.containerName
            ? runWaiter({
                words: container.args ?? [],
                namespace: pod.metadata.namespace ?? '',
                transport: inProcessTransport(cluster.handle),
                signal,
                log,
              }).then(exitCode => ({ exitCode }))
            : undefined,
      },
    })
    await controllers.fleet.add(plainNodes(20))
  })
  after(async () => {
    await controllers?.stop()
    cluster?.stop()
  })

  function connect(writes?: WriteCount[]): Client {
    return createClientOn(inProcessTransport(cluster.handle), {
      userAgent: 'grove-operator/test',
      onRequest: ({ verb, resource }) => {
        if (!readVerbs.has(verb)) writes?.push({ verb, resource: resource ?? '' })
      },
    })
  }

  ;[...stories, ...embeddedStories].forEach((story, at) => {
    test(story.name, async () => {
      const namespace = `story-${at}`
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const writes: WriteCount[] = []
      const stage = new Stage({ client, operatorClient: connect(writes), namespace, writes })
      await stage.startOperator()
      try {
        await story.tell(stage)
      } finally {
        await stage.stopOperator()
      }
    })
  })
})
