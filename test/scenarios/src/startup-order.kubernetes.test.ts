// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { gatedStages, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { installCustomResources } from './custom-kinds.ts'
import { Harness, isReady } from './harness.ts'
import { PodStarter } from './pod-starter.ts'
import { startupOrderScenarios } from './scenarios/startup-order.ts'

/** A scheduling gate that keeps a pod pending until the test removes it. */
const hold = 'example.com/hold'

describe('startup order on real Kubernetes, with a waiter process for every pod with dependencies', () => {
  let kubernetes: Kubernetes

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 20, stages: gatedStages })
    await using client = connect()
    await installCustomResources(client)
  })
  after(() => kubernetes?.stop())

  function connect() {
    const client = createClient({
      server: kubernetes.server,
      namespace: 'default',
      tls: () => ({
        ca: kubernetes.ca,
        certificate: kubernetes.admin.cert,
        key: kubernetes.admin.key,
      }),
    })
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
  }

  async function withHarness(run: (harness: Harness, starter: PodStarter) => Promise<void>): Promise<void> {
    const namespace = await kubernetes.newNamespace('order')
    await using client = connect()
    await using operatorClient = connect()
    await using starter = new PodStarter(client, kubernetes.server, namespace)
    const harness = new Harness({ client, operatorClient, namespace, writes: [] })
    await harness.startOperator()
    try {
      await run(harness, starter)
    } finally {
      await harness.stopOperator()
    }
  }

  for (const scenario of startupOrderScenarios)
    test(scenario.name, () => withHarness(harness => scenario.run(harness)))

  test('restarts waiters that are killed, and pods start in order', () =>
    withHarness(async (harness, starter) => {
      await harness.apply(`
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeInOrder
    cliques:
      - name: parent
        spec:
          roleName: parent
          replicas: 1
          podSpec: {schedulingGates: [{name: ${hold}}], containers: [{name: main, image: 'registry.example/a:1'}]}
      - name: child
        spec: {roleName: child, replicas: 4, podSpec: {containers: [{name: main, image: registry.example/b:1}]}}
`)
      const running = () => starter.waiters.filter(waiter => waiter.running)
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const waiting = await waitFor('four waiters', () => {
          const found = running().filter(({ output }) => output.includes('waiting for: w-0-parent 0/1 ready'))
          return found.length === 4 && found
        })
        const ready = (await harness.pods('w')).filter(isReady)
        assert.equal(ready.length, 0)
        await Promise.all(waiting.map(waiter => waiter.kill(signal)))
      }
      await waitFor('four further runs of waiters', () => starter.waiters.length === 12)
      const parent = (await harness.pods('w')).find(pod => pod.spec?.hostname === 'w-0-parent-0')!
      await harness.client.patch(
        resources.pods,
        { name: parent.metadata.name, namespace: harness.namespace },
        { strategic: { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } } },
      )
      await harness.untilReady('w', 5)
      assert.equal(starter.waiters.length, 12)
    }))
})
