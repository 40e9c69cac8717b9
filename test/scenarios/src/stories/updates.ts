// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { CliqueTemplate, Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { isReady, type Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped, solo } from './manifests.ts'

export const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image
export const uids = (pods: readonly Stored<Pod>[]) => pods.map(pod => pod.metadata.uid).sort()

/** Edits the clique templates of a set as a person would: read, change, write. */
export async function editCliques(
  stage: Stage,
  name: string,
  edit: (cliques: CliqueTemplate[]) => CliqueTemplate[],
) {
  const set = await stage.set(name)
  const cliques = edit(structuredClone(set!.spec.template.cliques) as CliqueTemplate[])
  await stage.patchSet(name, { spec: { template: { cliques } } })
}

export function withImage(clique: string, image: string) {
  return (cliques: CliqueTemplate[]) => {
    for (const template of cliques)
      if (template.name === clique) template.spec.podSpec.containers[0]!.image = image
    return cliques
  }
}

export async function untilUpdated(stage: Stage, name: string): Promise<void> {
  await stage.until(
    `the update of ${name} to end`,
    () => stage.set(name),
    set =>
      set?.status?.observedGeneration === set?.metadata.generation &&
      set?.status?.updateProgress?.updateEndedAt !== undefined &&
      set.status.updatedReplicas === set.spec.replicas,
  )
}

export const updateStories: Story[] = [
  {
    name: 'a new image rolls through the replicas, one serving pod at a time',
    async tell(stage) {
      await stage.apply(solo.replace('replicas: 1', 'replicas: 2'))
      await stage.untilReady('solo', 4)
      await stage.untilAvailable('solo', 2)
      await editCliques(stage, 'solo', withImage('web', 'registry.example/web:2'))
      let fewest = 4
      await stage.until(
        'every pod on the new image',
        async () => {
          const pods = (await stage.pods('solo')).filter(pod => !pod.metadata.deletionTimestamp)
          fewest = Math.min(fewest, pods.filter(isReady).length)
          return pods
        },
        pods =>
          pods.length === 4 && pods.every(pod => imageOf(pod) === 'registry.example/web:2' && isReady(pod)),
      )
      assert.ok(fewest >= 3, `${fewest} of 4 pods were ready at the worst moment`)
      await untilUpdated(stage, 'solo')
      const set = await stage.set('solo')
      assert.equal(set!.status?.updateProgress?.currentlyUpdating, undefined)
      assert.equal(set!.status?.updateProgress?.updatedPodCliquesCount, 2)
    },
  },
  {
    name: 'a change in a scaling group replaces its replicas one by one and leaves other cliques alone',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      const routers = before.filter(pod => imageOf(pod)?.includes('router'))
      await editCliques(stage, 'grouped', withImage('work', 'registry.example/engine:2'))
      await untilUpdated(stage, 'grouped')
      const after = await stage.untilReady('grouped', 10)
      assert.equal(after.filter(pod => imageOf(pod) === 'registry.example/engine:2').length, 6)
      assert.deepEqual(uids(after.filter(pod => imageOf(pod)?.includes('router'))), uids(routers))
      await stage.until(
        'the group to say so',
        () => stage.groups('grouped'),
        ([group]) =>
          group?.status?.updateProgress?.updateEndedAt !== undefined && group.status.updatedReplicas === 2,
      )
    },
  },
  {
    name: 'reordering, replica counts and spelled-out defaults restart nothing',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await editCliques(stage, 'grouped', cliques => cliques.reverse())
      await editCliques(stage, 'grouped', cliques => {
        for (const template of cliques) {
          template.spec.replicas += 1
          template.spec.podSpec.dnsPolicy = 'ClusterFirst'
          template.spec.podSpec.containers[0]!.imagePullPolicy = 'IfNotPresent'
        }
        return cliques
      })
      await stage.until(
        'the edits to be seen',
        () => stage.set('grouped'),
        set => set?.status?.observedGeneration === set?.metadata.generation,
      )
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.pods('grouped')), uids(before))
      assert.equal((await stage.set('grouped'))!.status?.updateProgress, undefined)
    },
  },
  {
    name: 'with OnDelete nothing is replaced by us, and what somebody deletes comes back new',
    async tell(stage) {
      await stage.apply(solo.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}'))
      const before = await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      await editCliques(stage, 'solo', withImage('web', 'registry.example/web:2'))
      await stage.until(
        'the update to be recorded',
        () => stage.set('solo'),
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.pods('solo')), uids(before))
      await stage.deletePod(before[0]!.metadata.name)
      const after = await stage.until(
        'the new pod',
        () => stage.pods('solo'),
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
    async tell(stage) {
      await stage.apply(grouped.replace('replicas: 1', 'replicas: 2'))
      await stage.untilReady('grouped', 20)
      await stage.untilAvailable('grouped', 2)
      await editCliques(stage, 'grouped', withImage('work', 'registry.example/engine:2'))
      await stage.until(
        'the update to begin',
        () => stage.set('grouped'),
        set => set?.status?.updateProgress?.currentlyUpdating !== undefined,
      )
      await editCliques(stage, 'grouped', withImage('work', 'registry.example/engine:3'))
      await untilUpdated(stage, 'grouped')
      const pods = await stage.untilReady('grouped', 20)
      assert.equal(pods.filter(pod => imageOf(pod) === 'registry.example/engine:3').length, 12)
    },
  },
]
