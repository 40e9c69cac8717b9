// SPDX-License-Identifier: Apache-2.0

// An update costs the same per pod in a large set as in a small one. Counted in pods and cliques that are read.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Looks } from './looks.ts'
import { Stage } from './stage.ts'

const podsPerReplica = 2
/** Longer than any of the operator's pauses for several changes to be looked at together. */
const calmMs = 1_500

/** As many replicas of a set as of a scaling group in one: where an update is led from differs. */
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

describe('work of updates', () => {
  let embedded: EmbeddedCluster

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 30 })
  })
  after(() => embedded?.stop())

  Object.entries(shapes).forEach(([what, manifest], at) => {
    test(what, async () => {
      const small = await measured(`small-${at}`, manifest(4), 4)
      const large = await measured(`large-${at}`, manifest(20), 20)
      for (const step of ['announcing', 'replacing'] as const)
        assert.ok(
          large[step] < 1.5 * small[step],
          `${step} took ${large[step]} looks at each pod, ${small[step]} in a fifth of the set`,
        )
      // A step of the update reads the cliques of its replica, not those of the others.
      if (at === 0)
        assert.ok(
          large.cliques < 1.5 * small.cliques,
          `${large.cliques} cliques were read per replica, ${small.cliques} in a fifth of the set`,
        )
      // Nothing is replaced yet: every clique, and every gang, looks at its own pods a few times.
      assert.ok(large.announcing <= 10, `${large.announcing} looks at each pod for a new template`)
    })
  })

  /** How often each pod is looked at when a new template is announced, and while all are replaced. */
  async function measured(namespace: string, spec: string, replicas: number) {
    await embedded.newNamespace(namespace)
    const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle))
    const writes: { verb: string; resource: string }[] = []
    const stage = new Stage({ client: embedded.client, operatorClient, namespace, writes })
    const operator = await startOperator(operatorClient, { configuration: defaultConfiguration() })
    try {
      const looks = new Looks(operator)
      await stage.apply(`apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: wide}${spec}`)
      await stage.untilReady('wide', replicas * podsPerReplica)
      await looks.untilStill(calmMs)
      const announcing = await looks.during(async () => {
        await stage.edit('wide', set => {
          set.spec.updateStrategy = { paused: true }
          for (const clique of set.spec.template.cliques)
            clique.spec.podSpec.containers[0]!.image = 'registry.example/next:2'
        })
        await looks.untilStill(calmMs)
      })
      const cliquesBefore = looks.cliques
      const replacing = await looks.during(async () => {
        await stage.edit('wide', set => {
          set.spec.updateStrategy = {}
        })
        await stage.until(
          'the update to end',
          () => stage.set('wide'),
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
