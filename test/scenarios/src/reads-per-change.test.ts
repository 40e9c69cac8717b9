// SPDX-License-Identifier: Apache-2.0

// The work of the operator is proportional to the change, not to the size of the set. The test counts the pods that
// planners read, not time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { PodReads } from './pod-reads.ts'
import { SkippingClock } from './skipping-clock.ts'

const podsPerReplica = 4
/** Longer than every debounce interval of the operator. */
const quietMs = 1_500

const manifest = (replicas: number) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: wide}
spec:
  replicas: 1
  template:
    cliques:
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/l:1}]}}
      - name: work
        spec: {roleName: work, replicas: 3, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: ${replicas}, minAvailable: 1}
`

describe('reads per change', () => {
  const clock = new SkippingClock()
  let embedded: EmbeddedCluster
  let client: Client

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 50, clock })
    client = embedded.client
  })
  after(() => embedded?.stop())

  test('a change of one pod causes the same number of reads in a large set as in a small one', async () => {
    const small = await measured('small', 4)
    const large = await measured('large', 40)
    assert.ok(
      large.podEvent <= 2 * small.podEvent,
      `${large.podEvent} pod reads for one changed pod, ${small.podEvent} in a tenth of the set`,
    )
    // A full reconcile reads every pod a few times.
    assert.ok(large.trigger <= 10 * large.pods, `${large.trigger} pod reads for a set of ${large.pods}`)
  })

  /** Returns the number of pod reads after a change of one pod and after a full reconcile of the set. */
  async function measured(namespace: string, replicas: number) {
    await embedded.newNamespace(namespace)
    const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle), { clock })
    const harness = new Harness({ client, operatorClient, namespace, writes: [] })
    const operator = await startOperator(operatorClient, { configuration: defaultConfiguration(), clock })
    try {
      const counted = new PodReads(operator)
      const looks = (act: () => Promise<unknown>) =>
        counted.during(async () => {
          await act()
          await counted.untilUnchanged(quietMs, clock)
        })
      await harness.apply(manifest(replicas))
      const pods = await harness.untilReady('wide', replicas * podsPerReplica)
      await harness.untilAvailable('wide', 1)
      await counted.untilUnchanged(2 * quietMs, clock)
      const podEvent = await looks(() =>
        client.patch(
          resources.pods,
          { name: pods[0]!.metadata.name, namespace },
          { merge: { metadata: { labels: { touched: 'yes' } } } },
        ),
      )
      const trigger = await looks(() =>
        harness.patchSet('wide', { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } }),
      )
      assert.ok(podEvent > 0 && trigger > 0)
      return { podEvent, trigger, pods: pods.length }
    } finally {
      await operator.stop()
    }
  }
})
