// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import { waiter } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { runWaiter } from '@grove/waiter'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Stage, type WriteCount } from './stage.ts'
import { embeddedStories, stories } from './stories/index.ts'

describe('stories on the embedded cluster', () => {
  let embedded: EmbeddedCluster

  before(async () => {
    embedded = await startEmbeddedCluster({
      controllers: cluster => ({
        autoscaler: { intervalMs: 200 },
        kubelet: {
          runInitContainer: (pod, container, { signal, log }) =>
            container.name === waiter.containerName
              ? runWaiter({
                  args: container.args ?? [],
                  namespace: pod.metadata.namespace ?? '',
                  transport: inProcessTransport(cluster.handle),
                  signal,
                  log,
                }).then(exitCode => ({ exitCode }))
              : undefined,
        },
      }),
    })
  })
  after(() => embedded?.stop())

  ;[...stories, ...embeddedStories].forEach((story, at) => {
    test(story.name, async () => {
      const writes: WriteCount[] = []
      const namespace = await embedded.newNamespace(`story-${at}`)
      const stage = new Stage({
        ...story,
        client: embedded.client,
        operatorClient: embedded.connect(writes, namespace),
        namespace,
        writes,
        ...(story.configuration && { configuration: story.configuration }),
      })
      await stage.startOperator()
      try {
        await story.tell(stage)
      } finally {
        await stage.stopOperator()
      }
    })
  })
})
