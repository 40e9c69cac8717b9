// SPDX-License-Identifier: Apache-2.0

// Updates during which a user scales the scaling groups and cliques of a set.
import assert from 'node:assert/strict'
import { label, type Pod } from '@grove/api'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { editCliques, imageOf, untilUpdated } from './updates.ts'

const name = 'fleet'
const image = (version: number) => `registry.example/fleet:${version}`
const clique = (role: string, replicas: number) => `
      - name: ${role}
        spec: {roleName: ${role}, replicas: ${replicas}, podSpec: {containers: [{name: main, image: '${image(1)}'}]}}`
const fleet = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ${name}}
spec:
  replicas: 2
  template:
    cliques:${clique('web', 2)}${clique('lead', 1)}${clique('work', 3)}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 2, minAvailable: 2}
`

const cliqueOf = (pod: Pod) => pod.metadata.labels?.[label.podClique]
const isWeb = (pod: Pod) => cliqueOf(pod)?.endsWith('-web') === true

async function scale(harness: Harness, groups: number, webs: number): Promise<void> {
  for (const replica of [0, 1]) {
    await harness.scale(resources.podCliqueScalingGroups, `${name}-${replica}-eng`, groups)
    await harness.scale(resources.podCliques, `${name}-${replica}-web`, webs)
  }
}

/** The scaled replicas of both groups and both cliques, and the number of pods of the set. */
const steps: readonly (readonly [groups: number, webs: number, pods: number])[] = [
  [3, 2, 28],
  [3, 4, 32],
  [2, 2, 20],
]

export const scaledUpdateScenarios: Scenario[] = [
  {
    name: 'groups and cliques are scaled out and in during an update; one replica is updated at a time, and no pod twice',
    async run(harness) {
      await harness.apply(fleet)
      await harness.untilReady(name, 20)
      await harness.untilAvailable(name, 2)
      for (const [at, [groups, webs, count]] of steps.entries()) {
        const newImage = image(at + 2)
        await editCliques(harness, name, all => {
          for (const { spec } of all) spec.podSpec.containers[0]!.image = newImage
          return all
        })
        await harness.until(
          'the update to start',
          () => harness.set(name),
          set => set?.status?.updateProgress?.currentlyUpdating !== undefined,
        )
        await scale(harness, groups, webs)
        const isNew = (pod: Pod) => imageOf(pod) === newImage
        const updated = new Map<string, string>()
        const look = async () => {
          const pods = (await harness.pods(name)).filter(({ metadata }) => !metadata.deletionTimestamp)
          // A scale-in deletes pods first that are not ready, also new ones. A later pod then gets their index. The
          // operator may not know yet that a pod is ready, so these pods count when the scale-in is done.
          const webPods = Map.groupBy(pods.filter(isWeb), cliqueOf)
          const isKept = (pod: Pod) => !isWeb(pod) || webPods.get(cliqueOf(pod))!.length <= webs
          for (const { spec, metadata } of pods.filter(pod => isNew(pod) && isKept(pod))) {
            const index = spec.hostname!
            assert.equal(updated.get(index) ?? metadata.uid, metadata.uid, `${index} was updated twice`)
            updated.set(index, metadata.uid)
          }
          const { currentlyUpdating = [] } = (await harness.set(name))?.status?.updateProgress ?? {}
          assert.ok(currentlyUpdating.length <= 1, 'one replica at a time')
          return pods
        }
        await harness.until(
          `${count} new pods`,
          look,
          pods => pods.length === count && pods.every(pod => isNew(pod) && isReady(pod)),
        )
        await untilUpdated(harness, name)
        await harness.untilReady(name, count)
      }
    },
  },
]
