// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, Resource } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped } from './manifests.ts'

const kinds: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.serviceAccounts,
  resources.roles,
  resources.roleBindings,
  resources.secrets,
]

export async function untilNothingIsLeft(stage: Stage, set: string): Promise<void> {
  for (const resource of kinds)
    await stage.until(
      `no ${resource.kind} of ${set}`,
      () => stage.list(resource, set),
      found => found.length === 0,
    )
}

export const deletionStories: Story[] = [
  {
    name: 'a set is deleted and nothing of it is left',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      await stage.deleteSet('grouped')
      await stage.until(
        'the set to be gone',
        () => stage.set('grouped'),
        set => set === undefined,
      )
      await untilNothingIsLeft(stage, 'grouped')
    },
  },
  {
    name: 'a set is deleted while it is being made, and made again under the same name',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.deleteSet('grouped')
      await stage.until(
        'the set to be gone',
        () => stage.set('grouped'),
        set => set === undefined,
      )
      const again = await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      const set = await stage.untilAvailable('grouped', 1)
      if (set.metadata.uid !== again.metadata.uid) throw new Error('another set')
    },
  },
  {
    name: 'an operator that was away finds its way back: missing pods are made, nothing is made twice',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.stopOperator()
      const lost = before.slice(0, 3)
      for (const pod of lost) await stage.deletePod(pod.metadata.name)
      await stage.startOperator()
      const after = await stage.untilReady('grouped', 10)
      const gone = new Set(lost.map(pod => pod.metadata.uid))
      for (const pod of before)
        if (!gone.has(pod.metadata.uid) && !after.some(other => other.metadata.uid === pod.metadata.uid))
          throw new Error(`${pod.metadata.name} was replaced for no reason`)
    },
  },
]
