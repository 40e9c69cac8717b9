// SPDX-License-Identifier: Apache-2.0

// Obstacles are reported in the status of the set, and the report is removed with the obstacle.
import assert from 'node:assert/strict'
import { label } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

const errorsOf = async (harness: Harness) => (await harness.set('solo'))?.status?.lastErrors ?? []

/** Waits until the set reports exactly these codes. */
const untilErrors = (harness: Harness, ...codes: string[]) =>
  harness.until(
    `the errors ${codes.join(', ') || 'to be deleted'}`,
    () => errorsOf(harness),
    errors =>
      errors
        .map(({ code }) => code)
        .sort()
        .join() === codes.join(),
  )

export const obstacleScenarios: Scenario[] = [
  {
    name: 'reports names that are taken one by one, and creates the objects when the names are free',
    async run(harness) {
      const { namespace } = harness
      const role = { name: 'grove.io:pcs:solo', namespace }
      const secret = { name: 'solo-ic-sat', namespace }
      await harness.client.create(resources.roles, { metadata: role, rules: [] } as never)
      await harness.client.create(resources.secrets, { metadata: secret } as never)
      await harness.apply(solo)
      const errors = await untilErrors(harness, 'ERR_SECRET_CONFLICT', 'ERR_SYNC_ROLE')
      for (const { description } of errors) assert.match(description, /^failed to sync (Role|ServiceAccount)/)
      // The programs in the pods need them, but the creation of pods does not.
      await harness.untilReady('solo', 2)
      assert.equal((await harness.set('solo'))!.status?.observedGeneration, undefined)
      await harness.client.delete(resources.secrets, secret)
      await untilErrors(harness, 'ERR_SYNC_ROLE')
      await harness.client.delete(resources.roles, role)
      await harness.untilAvailable('solo', 1)
      await untilErrors(harness)
    },
  },
  {
    name: 'reports a PodGang not controlled by the set, and creates its own when that one is deleted',
    async run(harness) {
      const ref = { name: 'solo-0', namespace: harness.namespace }
      await harness.client.create(resources.podGangs, { metadata: ref, spec: { podgroups: [] } } as never)
      await harness.apply(solo)
      const [error] = await untilErrors(harness, 'ERR_SET_CONTROLLER_REFERENCE')
      assert.match(error!.description, /solo-0 exists and is not controlled by this PodCliqueSet/)
      await harness.client.delete(resources.podGangs, ref)
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      await untilErrors(harness)
    },
  },
  {
    name: 'reverts edits of a PodGang',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.client.patch(
        resources.podGangs,
        { name: 'solo-0', namespace: harness.namespace },
        {
          merge: {
            metadata: {
              labels: { stray: 'yes', 'grove.io/kept': 'yes', [label.schedulerName]: 'not-installed' },
            },
            spec: { podgroups: [] },
          },
        },
      )
      const [gang] = await harness.until(
        'the gang to be repaired',
        () => harness.gangs('solo'),
        ([seen]) => seen?.spec.podgroups[0]?.podReferences.length === 2,
      )
      assert.equal(gang!.metadata.labels?.stray, undefined)
      assert.equal(gang!.metadata.labels?.['grove.io/kept'], 'yes')
      assert.equal(gang!.metadata.labels?.[label.schedulerName], 'default-scheduler')
    },
  },
  {
    name: 'a group that is scaled below its minimum makes its replica unavailable and changes nothing else',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 0)
      const routers = await harness.untilReady('grouped', 2)
      await harness.untilAvailable('grouped', 0)
      for (const { metadata } of routers) assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 2)
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
    },
  },
  {
    name: 'recreates no children of a set that is deleted with foreground cascading',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      await harness.client.delete(
        resources.podCliqueSets,
        { name: 'grouped', namespace: harness.namespace },
        { propagationPolicy: 'Foreground' },
      )
      await harness.until(
        'the set to be deleted',
        () => harness.set('grouped'),
        set => set === undefined,
      )
      for (const resource of [resources.podCliques, resources.podGangs, resources.services])
        await harness.until(
          `no ${resource.kind}`,
          () => harness.list<KubeObject>(resource, 'grouped'),
          found => found.length === 0,
        )
    },
  },
]
