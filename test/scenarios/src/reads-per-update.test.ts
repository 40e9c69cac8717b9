// SPDX-License-Identifier: Apache-2.0

// The work of an update per pod does not depend on the size of the set. The test counts the pods and cliques that
// planners read.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { PodReads } from './pod-reads.ts'
import { SkippingClock } from './skipping-clock.ts'

const podsPerReplica = 2
/** Longer than every debounce interval of the operator. */
const quietMs = 1_500

/** Many replicas of a set, or of one scaling group: the set controller or the group controller drives the update. */
const shapes: Record<string, (replicas: number) => string> = {
  'a set of many replicas': replicas => `
spec:
  replicas: ${replicas}
  template:
    cliques:
      - name: work
        spec: {roleName: work, replicas: 2, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
`,
  'a group of many replicas': replicas => `
spec:
  replicas: 1
  template:
    cliques:
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/l:1}]}}
      - name: work
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: ${replicas}, minAvailable: 1}
`,
}

describe('reads per update are proportional to the number of pods', () => {
  const clock = new SkippingClock()
  let embedded: EmbeddedCluster

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 30, clock })
  })
  after(() => embedded?.stop())

  Object.entries(shapes).forEach(([what, manifest], at) => {
    test(what, async () => {
      const small = await measured(`small-${at}`, manifest(4), 4)
      const large = await measured(`large-${at}`, manifest(20), 20)
      for (const step of ['announcing', 'replacing'] as const)
        assert.ok(
          large[step] < 1.5 * small[step],
          `${step} took ${large[step]} reads per pod, ${small[step]} in a fifth of the set`,
        )
      // A step of the update reads the cliques of its replica, not those of the others.
      if (at === 0)
        assert.ok(
          large.cliques < 1.5 * small.cliques,
          `${large.cliques} cliques were read per replica, ${small.cliques} in a fifth of the set`,
        )
      // No pod is replaced yet: every clique and every gang reads its own pods a few times.
      assert.ok(large.announcing <= 10, `${large.announcing} reads per pod for a new template`)
    })
  })

  /** Returns the number of reads per pod after a template change is announced, and while the pods are replaced. */
  async function measured(namespace: string, spec: string, replicas: number) {
    await embedded.newNamespace(namespace)
    const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle), { clock })
    const writes: { verb: string; resource: string }[] = []
    const harness = new Harness({ client: embedded.client, operatorClient, namespace, writes })
    const operator = await startOperator(operatorClient, { configuration: defaultConfiguration(), clock })
    try {
      const looks = new PodReads(operator)
      await harness.apply(`apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: wide}${spec}`)
      await harness.untilReady('wide', replicas * podsPerReplica)
      await looks.untilUnchanged(quietMs, clock)
      const announcing = await looks.during(async () => {
        await harness.edit('wide', set => {
          set.spec.updateStrategy = { paused: true }
          for (const clique of set.spec.template.cliques)
            clique.spec.podSpec.containers[0]!.image = 'registry.example/next:2'
        })
        await looks.untilUnchanged(quietMs, clock)
      })
      const cliquesBefore = looks.cliques
      const replacing = await looks.during(async () => {
        await harness.edit('wide', set => {
          set.spec.updateStrategy = {}
        })
        await harness.until(
          'the update to end',
          () => harness.set('wide'),
          set => set?.status?.updateProgress?.updateEndedAt !== undefined,
        )
      })
      const perPod = (seen: number) => Math.round((10 * seen) / (replicas * podsPerReplica)) / 10
      const cliques = Math.round((looks.cliques - cliquesBefore) / replicas)
      return { announcing: perPod(announcing), replacing: perPod(replacing), cliques }
    } finally {
      await operator.stop()
    }
  }
})
