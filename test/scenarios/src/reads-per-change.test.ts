// SPDX-License-Identifier: Apache-2.0

// Work is proportional to what changed, not to what there is. Counted in objects that are looked at, not in time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { PodReads } from './pod-reads.ts'

const podsPerReplica = 4
/** Longer than any of the operator's pauses for several changes to be looked at together. */
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

describe('work', () => {
  let embedded: EmbeddedCluster
  let client: Client

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 50 })
    client = embedded.client
  })
  after(() => embedded?.stop())

  test('one pod that changes is the same work in a large set as in a small one', async () => {
    const small = await measured('small', 4)
    const large = await measured('large', 40)
    assert.ok(
      large.podEvent <= 2 * small.podEvent,
      `${large.podEvent} pods were looked at for one that changed, ${small.podEvent} in a tenth of the set`,
    )
    // A look at everything looks at every pod a few times, however many there are.
    assert.ok(
      large.trigger <= 10 * large.pods,
      `${large.trigger} pods were looked at for a set of ${large.pods}`,
    )
  })

  /** How many pods are looked at when one of them changes, and when the whole set is looked at. */
  async function measured(namespace: string, replicas: number) {
    await embedded.newNamespace(namespace)
    const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle))
    const harness = new Harness({ client, operatorClient, namespace, writes: [] })
    const operator = await startOperator(operatorClient, { configuration: defaultConfiguration() })
    try {
      const counted = new PodReads(operator)
      const looks = (act: () => Promise<unknown>) =>
        counted.during(async () => {
          await act()
          await counted.untilUnchanged(quietMs)
        })
      await harness.apply(manifest(replicas))
      const pods = await harness.untilReady('wide', replicas * podsPerReplica)
      await harness.untilAvailable('wide', 1)
      await counted.untilUnchanged(2 * quietMs)
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
