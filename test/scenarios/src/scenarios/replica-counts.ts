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

/** Returns the wanted replicas of the group, of the workers in two of its replicas, and of the router. */
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

/** Keeps the pods of a clique unready until the operator terminates it. Returns the clique that replaces it. */
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
    name: 'groups and standalone cliques keep their scaled size; recreated members have the size of the template',
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

      // The group has enough other replicas, so only this replica is recreated.
      await giveUpOn(harness, 'grouped', 'grouped-0-eng-0-lead')
      await untilCounts(harness, 'one engine with the replicas of the template', [3, 3, 4, 3])
      await harness.untilReady('grouped', 16)
      // The whole set replica is recreated, except the group itself. The router keeps its size.
      await giveUpOn(harness, 'grouped', 'grouped-0-router')
      await untilCounts(harness, 'all engines with the replicas of the template', [3, 3, 3, 3])
      await harness.untilReady('grouped', 15)

      await harness.scale(resources.podCliques, 'grouped-0-router', 4)
      await harness.scale(resources.podCliques, 'grouped-0-eng-1-work', 4)
      await harness.untilReady('grouped', 17)
      await editCliques(harness, 'grouped', withImage('lead', 'registry.example/engine:2'))
      await untilUpdated(harness, 'grouped')
      await untilCounts(harness, 'new engines with the replicas of the template', [3, 3, 3, 4])
      await harness.untilReady('grouped', 16)
    },
  },
]
