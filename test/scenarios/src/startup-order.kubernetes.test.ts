// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { gatedStages, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { installCustomResources } from './custom-kinds.ts'
import { PodStarter } from './pod-starter.ts'
import { isReady, Stage } from './stage.ts'
import { startupOrderStories } from './stories/startup-order.ts'

/** Keeps a pod from being placed until it is taken away. */
const hold = 'example.com/hold'

describe('order of starting on real Kubernetes, with a waiter process for every pod that waits', () => {
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

  async function onStage(tell: (stage: Stage, starter: PodStarter) => Promise<void>): Promise<void> {
    const namespace = await kubernetes.newNamespace('order')
    await using client = connect()
    await using operatorClient = connect()
    await using starter = new PodStarter(client, kubernetes.server, namespace)
    const stage = new Stage({ client, operatorClient, namespace, writes: [] })
    await stage.startOperator()
    try {
      await tell(stage, starter)
    } finally {
      await stage.stopOperator()
    }
  }

  for (const story of startupOrderStories) test(story.name, () => onStage(stage => story.tell(stage)))

  test('waiters that are killed begin again, and the order holds', () =>
    onStage(async (stage, starter) => {
      await stage.apply(`
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
        const ready = (await stage.pods('w')).filter(isReady)
        assert.equal(ready.length, 0)
        await Promise.all(waiting.map(waiter => waiter.kill(signal)))
      }
      await waitFor('four waiters once more', () => starter.waiters.length === 12)
      const parent = (await stage.pods('w')).find(pod => pod.spec?.hostname === 'w-0-parent-0')!
      await stage.client.patch(
        resources.pods,
        { name: parent.metadata.name, namespace: stage.namespace },
        { strategic: { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } } },
      )
      await stage.untilReady('w', 5)
      assert.equal(starter.waiters.length, 12)
    }))
})
