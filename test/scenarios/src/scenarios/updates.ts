// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { CliqueTemplate, Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

export const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image
export const uids = (pods: readonly Stored<Pod>[]) => pods.map(pod => pod.metadata.uid).sort()

/** Edits the clique templates of a set like a user: read, change, write. */
export async function editCliques(
  harness: Harness,
  name: string,
  edit: (cliques: CliqueTemplate[]) => CliqueTemplate[],
) {
  const set = await harness.set(name)
  const cliques = edit(structuredClone(set!.spec.template.cliques) as CliqueTemplate[])
  await harness.patchSet(name, { spec: { template: { cliques } } })
}

export function withImage(clique: string, image: string) {
  return (cliques: CliqueTemplate[]) => {
    for (const template of cliques)
      if (template.name === clique) template.spec.podSpec.containers[0]!.image = image
    return cliques
  }
}

export async function untilUpdated(harness: Harness, name: string): Promise<void> {
  await harness.until(
    `the update of ${name} to end`,
    () => harness.set(name),
    set =>
      set?.status?.observedGeneration === set?.metadata.generation &&
      set?.status?.updateProgress?.updateEndedAt !== undefined &&
      set.status.updatedReplicas === set.spec.replicas,
  )
}

export const updateScenarios: Scenario[] = [
  {
    name: 'a new image replaces the pods of the replicas one serving pod at a time',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 1', 'replicas: 2'))
      await harness.untilReady('solo', 4)
      await harness.untilAvailable('solo', 2)
      await editCliques(harness, 'solo', withImage('web', 'registry.example/web:2'))
      let fewest = 4
      await harness.until(
        'every pod on the new image',
        async () => {
          const pods = (await harness.pods('solo')).filter(pod => !pod.metadata.deletionTimestamp)
          fewest = Math.min(fewest, pods.filter(isReady).length)
          return pods
        },
        pods =>
          pods.length === 4 && pods.every(pod => imageOf(pod) === 'registry.example/web:2' && isReady(pod)),
      )
      assert.ok(fewest >= 3, `${fewest} of 4 pods were ready at the lowest point`)
      await untilUpdated(harness, 'solo')
      const set = await harness.set('solo')
      assert.equal(set!.status?.updateProgress?.currentlyUpdating, undefined)
      assert.equal(set!.status?.updateProgress?.updatedPodCliquesCount, 2)
    },
  },
  {
    name: 'a change in a scaling group replaces its replicas one by one and leaves other cliques alone',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      const routers = before.filter(pod => imageOf(pod)?.includes('router'))
      await editCliques(harness, 'grouped', withImage('work', 'registry.example/engine:2'))
      await untilUpdated(harness, 'grouped')
      const after = await harness.untilReady('grouped', 10)
      assert.equal(after.filter(pod => imageOf(pod) === 'registry.example/engine:2').length, 6)
      assert.deepEqual(uids(after.filter(pod => imageOf(pod)?.includes('router'))), uids(routers))
      await harness.until(
        'the condition of the group',
        () => harness.groups('grouped'),
        ([group]) =>
          group?.status?.updateProgress?.updateEndedAt !== undefined && group.status.updatedReplicas === 2,
      )
    },
  },
  {
    name: 'reordering, replica counts and explicit defaults restart nothing',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await editCliques(harness, 'grouped', cliques => cliques.reverse())
      await editCliques(harness, 'grouped', cliques => {
        for (const template of cliques) {
          template.spec.replicas += 1
          template.spec.podSpec.dnsPolicy = 'ClusterFirst'
          template.spec.podSpec.containers[0]!.imagePullPolicy = 'IfNotPresent'
        }
        return cliques
      })
      await harness.until(
        'the edits to be observed',
        () => harness.set('grouped'),
        set => set?.status?.observedGeneration === set?.metadata.generation,
      )
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods('grouped')), uids(before))
      assert.equal((await harness.set('grouped'))!.status?.updateProgress, undefined)
    },
  },
  {
    name: 'with OnDelete, the operator replaces no pod, and deleted pods are recreated from the new template',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}'))
      const before = await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      await editCliques(harness, 'solo', withImage('web', 'registry.example/web:2'))
      await harness.until(
        'the update to be recorded',
        () => harness.set('solo'),
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods('solo')), uids(before))
      await harness.deletePod(before[0]!.metadata.name)
      const after = await harness.until(
        'the new pod',
        () => harness.pods('solo'),
        pods =>
          pods.length === 2 &&
          pods.every(isReady) &&
          !pods.some(pod => pod.metadata.uid === before[0]!.metadata.uid),
      )
      assert.deepEqual(after.map(imageOf).sort(), ['registry.example/web:1', 'registry.example/web:2'])
    },
  },
  {
    name: 'a second change during an update supersedes the first',
    async run(harness) {
      await harness.apply(grouped.replace('replicas: 1', 'replicas: 2'))
      await harness.untilReady('grouped', 20)
      await harness.untilAvailable('grouped', 2)
      await editCliques(harness, 'grouped', withImage('work', 'registry.example/engine:2'))
      await harness.until(
        'the update to start',
        () => harness.set('grouped'),
        set => set?.status?.updateProgress?.currentlyUpdating !== undefined,
      )
      await editCliques(harness, 'grouped', withImage('work', 'registry.example/engine:3'))
      await untilUpdated(harness, 'grouped')
      const pods = await harness.untilReady('grouped', 20)
      assert.equal(pods.filter(pod => imageOf(pod) === 'registry.example/engine:3').length, 12)
    },
  },
]
