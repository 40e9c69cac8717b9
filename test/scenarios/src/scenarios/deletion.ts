// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'

/** Every kind of object that a set can have. Some clusters do not serve all of them. */
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

/**
 * Waits until the set and all its children are deleted, except objects with these UIDs, which only carry its labels.
 */
export async function untilNothingIsLeft(
  harness: Harness,
  set: string,
  except: readonly string[] = [],
): Promise<void> {
  await harness.until(
    `no set ${set}`,
    () => harness.set(set),
    found => found === undefined,
  )
  await untilNoChildIsLeft(harness, set, except)
}

export async function untilNoChildIsLeft(
  harness: Harness,
  set: string,
  except: readonly string[] = [],
): Promise<void> {
  for (const resource of kinds)
    await harness.until(
      `no ${resource.kind} of ${set}`,
      () => listIfServed(harness, resource, set),
      found => found.every(({ metadata }) => except.includes(metadata.uid)),
    )
}

async function listIfServed(
  harness: Harness,
  resource: Resource<KubeObject>,
  set: string,
): Promise<Stored<KubeObject>[]> {
  try {
    return await harness.list(resource, set)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

export const deletionScenarios: Scenario[] = [
  {
    name: 'deletes all objects of a deleted set',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      await harness.deleteSet('grouped')
      await untilNothingIsLeft(harness, 'grouped')
    },
  },
  {
    name: 'a set that is deleted during its creation can be created again with the same name',
    async run(harness) {
      await harness.apply(grouped)
      await harness.deleteSet('grouped')
      await harness.until(
        'the set to be deleted',
        () => harness.set('grouped'),
        set => set === undefined,
      )
      const again = await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      const set = await harness.untilAvailable('grouped', 1)
      if (set.metadata.uid !== again.metadata.uid) throw new Error('another set')
    },
  },
  {
    name: 'an operator that starts later creates the missing pods and creates nothing twice',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.stopOperator()
      const lost = before.slice(0, 3)
      for (const pod of lost) await harness.deletePod(pod.metadata.name)
      await harness.startOperator()
      const after = await harness.untilReady('grouped', 10)
      const gone = new Set(lost.map(pod => pod.metadata.uid))
      for (const pod of before)
        if (!gone.has(pod.metadata.uid) && !after.some(other => other.metadata.uid === pod.metadata.uid))
          throw new Error(`${pod.metadata.name} was replaced for no reason`)
    },
  },
]
