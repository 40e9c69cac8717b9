// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label, type PodClique } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { report } from './gang-termination.ts'
import { grouped } from './manifests.ts'
import { editCliques, untilUpdated, withImage } from './updates.ts'

/** How many replicas the group, its workers in two of its replicas, and the router want. */
async function counts(harness: Harness): Promise<number[]> {
  const objects = [...(await harness.groups('grouped')), ...(await harness.cliques('grouped'))]
  const wanted = ['grouped-0-eng', 'grouped-0-eng-0-work', 'grouped-0-eng-1-work', 'grouped-0-router']
  return wanted.map(name => objects.find(({ metadata }) => metadata.name === name)?.spec.replicas ?? -1)
}

const untilCounts = (harness: Harness, what: string, wanted: readonly number[]) =>
  harness.until(
    what,
    () => counts(harness),
    seen => seen.join() === wanted.join(),
  )

/**
 * Lets the pods of a clique run without serving until the operator gives up on it; the clique in its place.
 */
export async function giveUpOn(harness: Harness, set: string, clique: string): Promise<Stored<PodClique>> {
  const ref = { name: clique, namespace: harness.namespace }
  const { metadata } = await harness.client.get(resources.podCliques, ref)
  for (const pod of await harness.pods(set))
    if (pod.metadata.labels?.[label.podClique] === clique) await report(harness, pod, false)
  const another = await harness.until(
    `another ${clique}`,
    () => harness.client.find(resources.podCliques, ref),
    found => found !== undefined && found.metadata.uid !== metadata.uid,
  )
  return another!
}

export const replicaCountScenarios: Scenario[] = [
  {
    name: 'groups and cliques of their own keep the size that they were given; members that are made anew have that of the template',
    async run(harness) {
      await harness.apply(grouped.replace('template:', 'template:\n    terminationDelay: 1s'))
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      await harness.scale(resources.podCliques, 'grouped-0-router', 3)
      await harness.untilReady('grouped', 15)
      for (const engine of [0, 1])
        await harness.scale(resources.podCliques, `grouped-0-eng-${engine}-work`, 4)
      await harness.untilReady('grouped', 17)
      assert.deepEqual(await counts(harness), [3, 4, 4, 3])

      // The group can do without one of its replicas, which alone is made anew.
      await giveUpOn(harness, 'grouped', 'grouped-0-eng-0-lead')
      await untilCounts(harness, 'one engine of the template’s size', [3, 3, 4, 3])
      await harness.untilReady('grouped', 16)
      // The whole replica of the set is made anew, except the group itself; the router is as large as before.
      await giveUpOn(harness, 'grouped', 'grouped-0-router')
      await untilCounts(harness, 'all engines of the template’s size', [3, 3, 3, 3])
      await harness.untilReady('grouped', 15)

      await harness.scale(resources.podCliques, 'grouped-0-router', 4)
      await harness.scale(resources.podCliques, 'grouped-0-eng-1-work', 4)
      await harness.untilReady('grouped', 17)
      await editCliques(harness, 'grouped', withImage('lead', 'registry.example/engine:2'))
      await untilUpdated(harness, 'grouped')
      await untilCounts(harness, 'new engines of the template’s size', [3, 3, 3, 4])
      await harness.untilReady('grouped', 16)
    },
  },
]
