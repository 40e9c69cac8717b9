// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Story } from '../story.ts'
import { grouped, solo } from './manifests.ts'

const uids = (pods: readonly Stored<Pod>[]) => new Set(pods.map(pod => pod.metadata.uid))

export const scalingStories: Story[] = [
  {
    name: 'a set is scaled out and in: existing replicas keep their pods, everything of the others goes',
    async tell(stage) {
      await stage.apply(solo)
      const first = uids(await stage.untilReady('solo', 2))
      await stage.scale(resources.podCliqueSets, 'solo', 3)
      const three = await stage.untilReady('solo', 6)
      for (const uid of first) assert.ok(uids(three).has(uid))
      await stage.untilAvailable('solo', 3)
      await stage.scale(resources.podCliqueSets, 'solo', 1)
      const one = await stage.untilReady('solo', 2)
      assert.deepEqual(uids(one), first)
      for (const resource of [resources.podCliques, resources.podGangs, resources.services])
        await stage.until(
          `one ${resource.kind} left`,
          () => stage.list(resource as never, 'solo'),
          found => found.length === 1,
        )
      await stage.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a set is scaled to zero and back',
    async tell(stage) {
      await stage.apply(solo)
      await stage.untilReady('solo', 2)
      await stage.scale(resources.podCliqueSets, 'solo', 0)
      await stage.untilReady('solo', 0)
      await stage.until(
        'no clique left',
        () => stage.cliques('solo'),
        found => found.length === 0,
      )
      await stage.untilAvailable('solo', 0)
      await stage.scale(resources.podCliqueSets, 'solo', 2)
      await stage.untilReady('solo', 4)
    },
  },
  {
    name: 'a scaling group is scaled out and in: one gang more and one less, nothing else moves',
    async tell(stage) {
      await stage.apply(grouped)
      const first = uids(await stage.untilReady('grouped', 10))
      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      const more = await stage.untilReady('grouped', 14)
      for (const uid of first) assert.ok(uids(more).has(uid))
      await stage.until(
        'three gangs',
        () => stage.gangs('grouped'),
        gangs => gangs.length === 3,
      )
      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await stage.untilReady('grouped', 6)
      await stage.until(
        'the base gang alone',
        () => stage.gangs('grouped'),
        gangs => gangs.length === 1,
      )
      await stage.until(
        'the status to follow',
        () => stage.groups('grouped'),
        ([group]) => group?.status?.availableReplicas === 1,
      )
    },
  },
  {
    name: 'a clique is scaled by hand and the template no longer decides its size',
    async tell(stage) {
      await stage.apply(solo)
      await stage.untilReady('solo', 2)
      await stage.scale(resources.podCliques, 'solo-0-web', 4)
      await stage.untilReady('solo', 4)
      const set = await stage.set('solo')
      const cliques = structuredClone(set!.spec.template.cliques)
      cliques[0]!.spec.replicas = 3
      await stage.patchSet('solo', { spec: { template: { cliques } } })
      await stage.until(
        'the edit to be seen',
        () => stage.set('solo'),
        seen => seen?.status?.observedGeneration === seen?.metadata.generation,
      )
      await stage.untilQuiet()
      assert.equal((await stage.cliques('solo'))[0]!.spec.replicas, 4)
      await stage.scale(resources.podCliques, 'solo-0-web', 1)
      await stage.untilReady('solo', 1)
    },
  },
]
