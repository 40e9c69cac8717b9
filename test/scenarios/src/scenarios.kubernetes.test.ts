// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import type { Client } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { installCustomResources } from './custom-kinds.ts'
import { serveExternalMetrics } from './external-metrics.ts'
import { Stage, type WriteCount, writeCounter } from './stage.ts'
import { kubernetesStories, stories } from './stories/index.ts'

describe('stories on real Kubernetes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let metrics: AsyncDisposable

  before(async () => {
    kubernetes = await startKubernetes({
      nodes: 20,
      gpus: 8,
      flags: {
        'kube-controller-manager': [
          // The collector is not what is measured here.
          '--kube-api-qps=300',
          '--kube-api-burst=600',
          '--horizontal-pod-autoscaler-sync-period=1s',
        ],
      },
    })
    client = connect()
    await installCustomResources(client)
    metrics = await serveExternalMetrics(kubernetes, client)
  })
  after(async () => {
    await metrics?.[Symbol.asyncDispose]()
    await client?.close()
    await kubernetes?.stop()
  })

  function connect(writes: WriteCount[] = [], namespace?: string): Client {
    return adminClient(kubernetes, {
      userAgent: 'grove-operator/test',
      onRequest: writeCounter(writes, namespace),
    })
  }

  for (const story of [...stories, ...kubernetesStories])
    test(story.name, async () => {
      const writes: WriteCount[] = []
      const namespace = await kubernetes.newNamespace('story')
      const operatorClient = connect(writes, namespace)
      const stage = new Stage({
        ...story,
        client,
        operatorClient,
        namespace,
        writes,
        ...(story.configuration && { configuration: story.configuration }),
      })
      await stage.startOperator()
      try {
        await story.tell(stage)
      } finally {
        await stage.stopOperator()
        await operatorClient.close()
      }
    })
})
