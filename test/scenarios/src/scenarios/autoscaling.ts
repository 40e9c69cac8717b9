// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { HorizontalPodAutoscaler } from '@grove/api'
import { getScale, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { giveUpOn } from './replica-counts.ts'

/** Enough replicas that every child keeps at most five. */
const perFive = (metric: string) =>
  `{type: External, external: {metric: {name: ${metric}}, target: {type: AverageValue, averageValue: 5}}}`

/** A clique and a scaling group with autoscalers on queue lengths. */
const scaled = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: auto}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 2
          minAvailable: 1
          autoScalingConfig: {minReplicas: 1, maxReplicas: 6, metrics: [${perFive('visitors')}]}
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/lead:1}]}}
      - name: work
        spec: {roleName: work, replicas: 2, podSpec: {containers: [{name: main, image: registry.example/work:1}]}}
    podCliqueScalingGroups:
      - name: eng
        cliqueNames: [lead, work]
        replicas: 1
        scaleConfig: {minReplicas: 1, maxReplicas: 4, metrics: [${perFive('prompts')}]}
`

const base = 'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=auto'
const targets = {
  web: {
    resource: resources.podCliques,
    name: 'auto-0-web',
    selector: `${base},grove.io/podclique=auto-0-web`,
  },
  eng: {
    resource: resources.podCliqueScalingGroups,
    name: 'auto-0-eng',
    selector: `${base},grove.io/podcliquescalinggroup=auto-0-eng`,
  },
  set: { resource: resources.podCliqueSets, name: 'auto', selector: base },
} as const

const autoscalers = (harness: Harness): Promise<Stored<HorizontalPodAutoscaler>[]> =>
  harness.list(resources.autoscalers, 'auto')

const scaleOf = (harness: Harness, target: keyof typeof targets) =>
  getScale(harness.client, targets[target].resource as never, {
    name: targets[target].name,
    namespace: harness.namespace,
  })

async function untilScale(harness: Harness, target: keyof typeof targets, replicas: number) {
  await harness.until(
    `the scale of ${targets[target].name} to be ${replicas}`,
    () => scaleOf(harness, target),
    scale =>
      (scale.spec?.replicas ?? 0) === replicas &&
      scale.status.replicas === replicas &&
      scale.status.selector === targets[target].selector,
  )
}

const byHand = (harness: Harness, target: keyof typeof targets, replicas: number) =>
  harness.scale(targets[target].resource as never, targets[target].name, replicas)

/** Scales through the scale subresource, like users and autoscalers. */
export const autoscalingScenarios: Scenario[] = [
  {
    name: 'autoscalers are created, updated and deleted with the template; users may edit other fields',
    async run(harness) {
      await harness.apply(scaled)
      await harness.untilReady('auto', 5)
      await harness.untilAvailable('auto', 1)
      assert.deepEqual(await harness.writesOfAnotherReconcile('auto'), [])
      const found = (await autoscalers(harness)).sort((a, b) =>
        a.metadata.name.localeCompare(b.metadata.name),
      )
      assert.deepEqual(
        found.map(({ metadata, spec }) => [
          metadata.name,
          spec.scaleTargetRef,
          spec.minReplicas,
          spec.maxReplicas,
        ]),
        [
          [
            'auto-0-eng',
            { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueScalingGroup', name: 'auto-0-eng' },
            1,
            4,
          ],
          ['auto-0-web', { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'auto-0-web' }, 1, 6],
        ],
      )
      await harness.client.patch(
        resources.autoscalers,
        { name: 'auto-0-web', namespace: harness.namespace },
        { merge: { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 7 } } } } },
      )
      const ref = { name: 'auto-0-eng', namespace: harness.namespace }
      await harness.client.patch(resources.autoscalers, ref, { merge: { spec: { maxReplicas: 99 } } })
      const former = await harness.until(
        'edited bounds to be reverted to the template',
        () => harness.client.get(resources.autoscalers, ref),
        ({ spec }) => spec.maxReplicas === 4,
      )
      await harness.client.delete(resources.autoscalers, ref)
      await harness.until(
        'a deleted autoscaler to be recreated',
        () => harness.client.find(resources.autoscalers, ref),
        found => found !== undefined && found.metadata.uid !== former.metadata.uid,
      )
      await harness.scale(resources.podCliqueSets, 'auto', 2)
      await harness.until(
        'autoscalers of the second replica',
        () => autoscalers(harness),
        all => all.length === 4,
      )
      await harness.edit('auto', set => {
        set.spec.template.cliques[0]!.spec.autoScalingConfig!.maxReplicas = 8
        set.spec.template.podCliqueScalingGroups![0]!.scaleConfig = undefined
      })
      const [web] = await harness.until(
        'new bounds, and no autoscaler of the group',
        () => autoscalers(harness),
        all => all.length === 2 && all.every(({ spec }) => spec.maxReplicas === 8),
      )
      assert.ok(web!.metadata.name.endsWith('-web'))
      const edited = await harness.client.get(resources.autoscalers, {
        name: 'auto-0-web',
        namespace: harness.namespace,
      })
      const { behavior } = edited.spec as {
        behavior?: { scaleDown?: { stabilizationWindowSeconds?: number } }
      }
      assert.equal(behavior?.scaleDown?.stabilizationWindowSeconds, 7)
      await harness.scale(resources.podCliqueSets, 'auto', 0)
      await harness.until(
        'no autoscaler',
        () => autoscalers(harness),
        all => all.length === 0,
      )
    },
  },
  {
    name: 'replica counts belong to the client that scales: the template gives only the initial count, the scale has a selector, and zero is a valid count',
    async run(harness) {
      await harness.apply(scaled)
      await harness.untilReady('auto', 5)
      await untilScale(harness, 'web', 2)
      await untilScale(harness, 'eng', 1)
      await untilScale(harness, 'set', 1)
      await byHand(harness, 'web', 4)
      await byHand(harness, 'eng', 3)
      await harness.untilReady('auto', 13)
      await untilScale(harness, 'eng', 3)
      await harness.edit('auto', set => {
        set.spec.template.cliques[0]!.spec.replicas = 3
        set.spec.template.cliques[2]!.spec.replicas = 2
        set.spec.template.podCliqueScalingGroups![0]!.replicas = 2
        set.spec.template.cliques[0]!.spec.autoScalingConfig!.maxReplicas = 7
      })
      await harness.until(
        'the new bounds',
        () => autoscalers(harness),
        all => all.some(({ spec }) => spec.maxReplicas === 7),
      )
      await harness.untilQuiet()
      await untilScale(harness, 'web', 4)
      await untilScale(harness, 'eng', 3)
      // A new replica starts with the counts of the current template.
      await byHand(harness, 'set', 2)
      await harness.untilReady('auto', 13 + 3 + 6)
      await byHand(harness, 'set', 1)
      await harness.untilReady('auto', 13)
      for (const [target, left] of [
        ['web', 9],
        ['eng', 0],
      ] as const) {
        await byHand(harness, target, 0)
        await harness.untilReady('auto', left)
        await untilScale(harness, target, 0)
      }
      await byHand(harness, 'web', 1)
      await byHand(harness, 'eng', 2)
      await harness.untilReady('auto', 7)
      await harness.edit('auto', set => {
        delete set.spec.template.cliques[0]!.spec.autoScalingConfig
      })
      await harness.until(
        'the autoscaler of the clique to be deleted',
        () => autoscalers(harness),
        all => all.length === 1,
      )
      // The selector stays without an autoscaler of the operator, for autoscalers of users.
      await untilScale(harness, 'web', 1)
      const members = (await harness.cliques('auto')).filter(clique => clique.metadata.name.includes('-eng-'))
      assert.ok(members.every(clique => clique.status?.hpaPodSelector === undefined))
    },
  },
  {
    name: 'a clique and a group follow their queue lengths up and down, within their bounds and across a gang termination',
    async run(harness) {
      await harness.apply(scaled.replace('template:', 'template:\n    terminationDelay: 1s'))
      await harness.untilReady('auto', 5)
      const queueOf = (name: string, metric: string, length: number) =>
        harness.client.patch(
          resources.autoscalers,
          { name, namespace: harness.namespace },
          {
            merge: {
              metadata: { annotations: { [`simulate.grove.io/metric.${metric}`]: String(length) } },
              spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
            },
          },
        )
      const untilFollowed = async (web: number, eng: number, pods: number) => {
        await queueOf('auto-0-web', 'visitors', web)
        await queueOf('auto-0-eng', 'prompts', eng)
        await harness.untilReady('auto', pods)
      }
      await untilFollowed(20, 15, 4 + 9)
      await untilFollowed(500, 500, 6 + 12)
      // A recreated clique has the size that its autoscaler chose, not the size of the template.
      const another = await giveUpOn(harness, 'auto', 'auto-0-web')
      assert.equal(another.spec.replicas, 6)
      await harness.untilReady('auto', 6 + 12)
      await untilFollowed(1, 6, 1 + 6)
    },
  },
]
