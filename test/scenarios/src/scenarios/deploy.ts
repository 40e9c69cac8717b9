// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label, podSchedulingGate } from '@grove/api'
import { resources } from '@grove/operator'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

export const deployScenarios: Scenario[] = [
  {
    name: 'creates cliques, gangs and pods, removes the gates and reports the set as available',
    async run(harness) {
      await harness.apply(grouped)
      const pods = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      const set = (await harness.until(
        'the set to be up to date',
        () => harness.set('grouped'),
        seen => seen?.status?.updatedReplicas === 1,
      ))!
      assert.ok(set.status?.currentGenerationHash)
      assert.equal(set.status?.updateProgress, undefined)
      assert.deepEqual((await harness.cliques('grouped')).map(clique => clique.metadata.name).sort(), [
        'grouped-0-eng-0-lead',
        'grouped-0-eng-0-work',
        'grouped-0-eng-1-lead',
        'grouped-0-eng-1-work',
        'grouped-0-router',
      ])
      const gangs = await harness.gangs('grouped')
      assert.deepEqual(gangs.map(gang => gang.metadata.name).sort(), ['grouped-0', 'grouped-0-eng-0'])
      for (const gang of gangs) {
        assert.ok(
          gang.status?.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True'),
        )
        for (const group of gang.spec.podgroups) {
          const members = pods.filter(pod => pod.metadata.labels?.[label.podClique] === group.name)
          assert.deepEqual(
            group.podReferences.map(({ name }) => name).sort(),
            members.map(pod => pod.metadata.name).sort(),
          )
        }
      }
      for (const pod of pods)
        assert.ok(!(pod.spec?.schedulingGates ?? []).some(gate => gate.name === podSchedulingGate))
    },
  },
  {
    name: 'another reconcile of a converged set writes nothing',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilAvailable('grouped', 1)
      await harness.untilReady('grouped', 10)
      await harness.untilQuiet()
      assert.ok(harness.writes.length > 0, 'the harness counts its writes')
      harness.writes.length = 0
      for (let round = 0; round < 10; round++)
        await harness.patchSet('grouped', {
          metadata: { annotations: { 'grove.io/reconcile-trigger': String(round) } },
        })
      await harness.untilQuiet()
      // Gangs copy annotations of the set that do not have the prefix of Grove. The trigger annotation has it.
      assert.deepEqual(harness.writes, [])
    },
  },
  {
    name: 'replaces a deleted pod under the same index, and the gang lists and schedules the new pod',
    async run(harness) {
      await harness.apply(solo)
      const before = await harness.untilReady('solo', 2)
      const victim = before.find(pod => pod.metadata.labels?.[label.podIndex] === '0')!
      await harness.deletePod(victim.metadata.name)
      const after = await harness.until(
        'a new pod in place of the deleted one',
        () => harness.pods('solo'),
        pods => pods.length === 2 && pods.every(pod => pod.metadata.uid !== victim.metadata.uid),
      )
      assert.deepEqual(after.map(pod => pod.metadata.labels?.[label.podIndex]).sort(), ['0', '1'])
      await harness.untilReady('solo', 2)
    },
  },
  {
    name: 'recreates a deleted Service, Role, PodGang and PodClique',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      for (const resource of [
        resources.services,
        resources.roles,
        resources.podGangs,
        resources.podCliques,
      ]) {
        const [object] = await harness.list<{ metadata?: { name?: string } }>(resource as never, 'solo')
        await harness.client.delete(resource as never, {
          name: object!.metadata!.name!,
          namespace: harness.namespace,
        })
        await harness.until(
          `another ${resource.kind}`,
          () => harness.list(resource as never, 'solo'),
          found =>
            found.length === 1 &&
            found[0]!.metadata.uid !== (object as { metadata: { uid?: string } }).metadata.uid,
        )
      }
      await harness.untilReady('solo', 2)
    },
  },
]
