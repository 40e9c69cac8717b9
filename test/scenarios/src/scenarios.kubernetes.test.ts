// SPDX-License-Identifier: Apache-2.0

// The operator of every scenario has its own account, with the roles of the chart and no other permissions. The audit
// log of the API server shows whether these are sufficient.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration, scheduler } from '@grove/api'
import type { Client } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient, identityClient } from './admin-client.ts'
import { AuditLog } from './audit.ts'
import { installCustomResources } from './custom-kinds.ts'
import { serveExternalMetrics } from './external-metrics.ts'
import { Harness, type WriteCount, writeCounter } from './harness.ts'
import { operatorAccess, operatorIdentity, operatorNamespace, operatorUser } from './operator-process.ts'
import { kubernetesScenarios, scenarios } from './scenarios/index.ts'

/** With every scheduler that scenarios use. */
const configuration = {
  ...defaultConfiguration(),
  scheduler: {
    profiles: [scheduler.default, scheduler.kai, scheduler.volcano].map(name => ({ name })),
    defaultProfileName: scheduler.default,
  },
}

describe('scenarios on real Kubernetes', () => {
  const log = new AuditLog(operatorUser)
  let kubernetes: Kubernetes
  let client: Client
  let metrics: AsyncDisposable

  before(async () => {
    kubernetes = await startKubernetes({
      nodes: 20,
      gpus: 8,
      flags: {
        'kube-apiserver': log.flags,
        'kube-controller-manager': [
          // The default limits of the controller manager would slow down the garbage collector, and every scenario with
          // it.
          '--kube-api-qps=300',
          '--kube-api-burst=600',
          '--horizontal-pod-autoscaler-sync-period=1s',
        ],
      },
    })
    client = adminClient(kubernetes, { userAgent: 'grove-operator/test' })
    await installCustomResources(client)
    await kubernetes.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: operatorNamespace } },
      ...operatorAccess(configuration),
    ])
    metrics = await serveExternalMetrics(kubernetes, client)
  })
  after(async () => {
    await metrics?.[Symbol.asyncDispose]()
    await client?.close()
    await kubernetes?.stop()
    log.remove()
  })

  function connectOperator(writes: WriteCount[], namespace: string): Client {
    return identityClient(kubernetes, operatorIdentity, {
      userAgent: 'grove-operator/test',
      onRequest: writeCounter(writes, namespace),
    })
  }

  for (const scenario of [...scenarios, ...kubernetesScenarios])
    test(scenario.name, async () => {
      const writes: WriteCount[] = []
      const namespace = await kubernetes.newNamespace('scenario')
      const operatorClient = connectOperator(writes, namespace)
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
  test('the operator sends no request without permission', () => {
    assert.ok(log.requestsOf(operatorUser).length > 0, 'the audit log contains requests of the operator')
    assert.deepEqual(log.deniedTo(operatorUser), [])
  })
})
