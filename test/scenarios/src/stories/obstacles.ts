// SPDX-License-Identifier: Apache-2.0

// What stands in the way is named in the set's status, and forgotten once it is out of the way.
import assert from 'node:assert/strict'
import { label } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped, solo } from './manifests.ts'

const errorsOf = async (stage: Stage) => (await stage.set('solo'))?.status?.lastErrors ?? []

/** Waits until the set reports exactly these codes. */
const untilErrors = (stage: Stage, ...codes: string[]) =>
  stage.until(
    `the errors ${codes.join(', ') || 'to be gone'}`,
    () => errorsOf(stage),
    errors =>
      errors
        .map(({ code }) => code)
        .sort()
        .join() === codes.join(),
  )

export const obstacleStories: Story[] = [
  {
    name: "names that are somebody else's are reported one by one, and taken when they are free",
    async tell(stage) {
      const { namespace } = stage
      const role = { name: 'grove.io:pcs:solo', namespace }
      const secret = { name: 'solo-ic-sat', namespace }
      await stage.client.create(resources.roles, { metadata: role, rules: [] } as never)
      await stage.client.create(resources.secrets, { metadata: secret } as never)
      await stage.apply(solo)
      const errors = await untilErrors(stage, 'ERR_SECRET_CONFLICT', 'ERR_SYNC_ROLE')
      for (const { description } of errors) assert.match(description, /^failed to sync (Role|ServiceAccount)/)
      // What runs in pods needs them, not the pods.
      await stage.untilReady('solo', 2)
      assert.equal((await stage.set('solo'))!.status?.observedGeneration, undefined)
      await stage.client.delete(resources.secrets, secret)
      await untilErrors(stage, 'ERR_SYNC_ROLE')
      await stage.client.delete(resources.roles, role)
      await stage.untilAvailable('solo', 1)
      await untilErrors(stage)
    },
  },
  {
    name: "a gang of somebody else's in our place is reported, and ours comes when it is gone",
    async tell(stage) {
      const ref = { name: 'solo-0', namespace: stage.namespace }
      await stage.client.create(resources.podGangs, { metadata: ref, spec: { podgroups: [] } } as never)
      await stage.apply(solo)
      const [error] = await untilErrors(stage, 'ERR_SET_CONTROLLER_REFERENCE')
      assert.match(error!.description, /solo-0 exists and is controlled by somebody else/)
      await stage.client.delete(resources.podGangs, ref)
      await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      await untilErrors(stage)
    },
  },
  {
    name: 'a gang that somebody edits is put right',
    async tell(stage) {
      await stage.apply(solo)
      await stage.untilReady('solo', 2)
      await stage.client.patch(
        resources.podGangs,
        { name: 'solo-0', namespace: stage.namespace },
        {
          merge: {
            metadata: { labels: { stray: 'yes', 'grove.io/kept': 'yes', [label.schedulerName]: 'nobody' } },
            spec: { podgroups: [] },
          },
        },
      )
      const [gang] = await stage.until(
        'the gang to be put right',
        () => stage.gangs('solo'),
        ([seen]) => seen?.spec.podgroups[0]?.podReferences.length === 2,
      )
      assert.equal(gang!.metadata.labels?.stray, undefined)
      assert.equal(gang!.metadata.labels?.['grove.io/kept'], 'yes')
      assert.equal(gang!.metadata.labels?.[label.schedulerName], 'default-scheduler')
    },
  },
  {
    name: 'a group that is scaled below its minimum makes its replica unavailable and touches nothing else',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 0)
      const routers = await stage.untilReady('grouped', 2)
      await stage.untilAvailable('grouped', 0)
      for (const { metadata } of routers) assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 2)
      await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
    },
  },
  {
    name: 'a set that is deleted children first loses them all and gets none back',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      await stage.client.delete(
        resources.podCliqueSets,
        { name: 'grouped', namespace: stage.namespace },
        { propagationPolicy: 'Foreground' },
      )
      await stage.until(
        'the set to be gone',
        () => stage.set('grouped'),
        set => set === undefined,
      )
      for (const resource of [resources.podCliques, resources.podGangs, resources.services])
        await stage.until(
          `no ${resource.kind}`,
          () => stage.list<KubeObject>(resource, 'grouped'),
          found => found.length === 0,
        )
    },
  },
]
