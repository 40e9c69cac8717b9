// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import type { Client } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { installCustomResources } from './custom-kinds.ts'
import { serveExternalMetrics } from './external-metrics.ts'
import { Harness, type WriteCount, writeCounter } from './harness.ts'
import { kubernetesScenarios, scenarios } from './scenarios/index.ts'

describe('scenarios on real Kubernetes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let metrics: AsyncDisposable

  before(async () => {
    kubernetes = await startKubernetes({
      nodes: 20,
      gpus: 8,
      flags: {
        'kube-controller-manager': [
          // The default limits of the controller manager would slow down the garbage collector, and every scenario with
          // it.
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

  for (const scenario of [...scenarios, ...kubernetesScenarios])
    test(scenario.name, async () => {
      const writes: WriteCount[] = []
      const namespace = await kubernetes.newNamespace('scenario')
      const operatorClient = connect(writes, namespace)
      const harness = new Harness({
        ...scenario,
        client,
        operatorClient,
        namespace,
        writes,
        ...(scenario.configuration && { configuration: scenario.configuration }),
      })
      await harness.startOperator()
      try {
        await scenario.run(harness)
      } finally {
        await harness.stopOperator()
        await operatorClient.close()
      }
    })
})
