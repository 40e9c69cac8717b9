// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped } from './manifests.ts'

/** Every kind that a set may have objects of. Not every cluster serves all of them. */
const kinds: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.autoscalers,
  resources.serviceAccounts,
  resources.roles,
  resources.roleBindings,
  resources.secrets,
  resources.controllerRevisions,
  resources.resourceClaims,
  resources.computeDomains,
  resources.kaiPodGroups,
  resources.volcanoPodGroups,
]

/** The set and all of its children are gone; objects of others that carry its labels may be excepted, by UID. */
export async function untilNothingIsLeft(
  stage: Stage,
  set: string,
  except: readonly string[] = [],
): Promise<void> {
  await stage.until(
    `no set ${set}`,
    () => stage.set(set),
    found => found === undefined,
  )
  await untilNoChildIsLeft(stage, set, except)
}

export async function untilNoChildIsLeft(
  stage: Stage,
  set: string,
  except: readonly string[] = [],
): Promise<void> {
  for (const resource of kinds)
    await stage.until(
      `no ${resource.kind} of ${set}`,
      () => listIfServed(stage, resource, set),
      found => found.every(({ metadata }) => except.includes(metadata.uid)),
    )
}

async function listIfServed(
  stage: Stage,
  resource: Resource<KubeObject>,
  set: string,
): Promise<Stored<KubeObject>[]> {
  try {
    return await stage.list(resource, set)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

export const deletionStories: Story[] = [
  {
    name: 'a set is deleted and nothing of it is left',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      await stage.deleteSet('grouped')
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
