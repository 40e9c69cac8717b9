// SPDX-License-Identifier: Apache-2.0

// Conditions, phases and events of a set with the default scheduler, as `kubectl wait`, `kubectl describe` and `kubectl
// get podgangs` show them. The set becomes available, loses a pod that it needs, and does not fit.
import assert from 'node:assert/strict'
import type { Condition } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

/** The longest time for which a scheduler delays a pod that was unschedulable. */
const longestBackoffMs = 10_000

/** The manifest with pods that run only on the node that `allow` labels. */
const selective = (manifest: string, { namespace }: Harness) =>
  manifest.replaceAll('{containers', `{nodeSelector: {scenario: ${namespace}}, containers`)

async function allow({ client, namespace }: Harness, isAllowed: boolean): Promise<void> {
  const { metadata } = (await client.list(nodes)).items[0]!
  const labels = { scenario: isAllowed ? namespace : null }
  await client.patch(nodes, { name: metadata.name }, { merge: { metadata: { labels } } })
}

const conditionOf = (object: { status?: { conditions?: Condition[] } } | undefined, type: string) =>
  object?.status?.conditions?.find(condition => condition.type === type)

/** Waits like `kubectl wait --for=condition=TYPE=STATUS`: not for a condition of an older generation. */
async function untilCondition(
  harness: Harness,
  set: string,
  type: string,
  status: string,
): Promise<Condition> {
  const seen = await harness.until(
    `condition ${type}=${status} of PodCliqueSet ${set}`,
    () => harness.set(set),
    found => {
      const condition = conditionOf(found, type)
      return condition?.status === status && condition.observedGeneration === found?.metadata.generation
    },
  )
  return conditionOf(seen, type)!
}

const untilPhases = (harness: Harness, set: string, expected: Readonly<Record<string, string>>) =>
  harness.until(
    `PodGangs ${JSON.stringify(expected)}`,
    async () =>
      Object.fromEntries(
        (await harness.gangs(set)).map(({ metadata, status }) => [metadata.name, status?.phase]),
      ),
    phases =>
      JSON.stringify(Object.entries(phases).sort()) === JSON.stringify(Object.entries(expected).sort()),
  )

export const conditionScenarios: Scenario[] = [
  {
    name: 'a set is Available, not Available after the loss of a pod that it needs, and Available again',
    async run(harness) {
      await allow(harness, true)
      await harness.apply(selective(solo, harness))
      const first = await untilCondition(harness, 'solo', 'Available', 'True')
      assert.equal(first.reason, 'AllReplicasAvailable')
      await untilPhases(harness, 'solo', { 'solo-0': 'Running' })
      // The replacement of the pod finds no node.
      await allow(harness, false)
      const [pod] = await harness.pods('solo')
      await harness.deletePod(pod!.metadata.name)
      const lost = await untilCondition(harness, 'solo', 'Available', 'False')
      assert.equal(
        lost.message,
        `Replica 0 is not available: PodClique solo-0-web has fewer ready pods than its minAvailable (2). To see its state: kubectl -n ${harness.namespace} describe pclq solo-0-web`,
      )
      await untilPhases(harness, 'solo', { 'solo-0': 'Pending' })
      const [gang] = await harness.gangs('solo')
      assert.deepEqual(
        ['Scheduled', 'Ready', 'Unhealthy'].map(type => conditionOf(gang, type)?.status),
        ['False', 'False', 'True'],
      )
      await allow(harness, true)
      await harness.fastForward(longestBackoffMs)
      await untilCondition(harness, 'solo', 'Available', 'True')
      await untilPhases(harness, 'solo', { 'solo-0': 'Running' })
      await harness.scale(resources.podCliqueSets, 'solo', 2)
      await untilCondition(harness, 'solo', 'Available', 'True')
      await harness.untilReady('solo', 4)
      await allow(harness, false)
    },
  },
  {
    name: 'a set that does not fit names one cause in its conditions, in its gang and in one event, and recovers',
    async run(harness) {
      await harness.apply(selective(grouped, harness))
      const stalled = await untilCondition(harness, 'grouped', 'Stalled', 'True')
      assert.equal(stalled.reason, 'GangUnschedulable')
      const causeOf = async () => {
        const gangs = await harness.gangs('grouped')
        return conditionOf(
          gangs.find(({ metadata }) => metadata.name === 'grouped-0'),
          'Scheduled',
        )?.message
      }
      const cause = await causeOf()
      assert.match(cause ?? '', /^PodClique grouped-0-router: 0\/\d+ nodes are available/)
      assert.equal(stalled.message, `PodGang ${harness.namespace}/grouped-0 cannot be scheduled: ${cause}`)
      const available = await untilCondition(harness, 'grouped', 'Available', 'False')
      assert.deepEqual([available.reason, available.message], [stalled.reason, stalled.message])
      const { podGangStatuses } = (await harness.set('grouped'))!.status!
      assert.deepEqual(
        podGangStatuses?.map(({ name, phase, conditions }) => [name, phase, conditions?.[0]?.reason]),
        [
          ['grouped-0', 'Pending', 'Unschedulable'],
          ['grouped-0-eng-0', 'Pending', 'BaseGangNotScheduled'],
        ],
      )
      const events = () => harness.events.filter(({ reason }) => reason === 'GangUnschedulable')
      const [event] = await harness.until(
        'the event',
        async () => events(),
        seen => seen.length > 0,
      )
      assert.deepEqual([event?.about, event?.message], ['grouped', stalled.message])
      await harness.restartOperator()
      await harness.elapse(6_000)
      assert.equal(events().length, 1, 'neither a restart nor time repeats the event')

      await allow(harness, true)
      await harness.fastForward(longestBackoffMs)
      await harness.untilReady('grouped', 10)
      await untilCondition(harness, 'grouped', 'Available', 'True')
      await harness.until(
        'the set to be no longer stalled',
        () => harness.set('grouped'),
        set => conditionOf(set, 'Stalled') === undefined,
      )
      await untilPhases(harness, 'grouped', { 'grouped-0': 'Running', 'grouped-0-eng-0': 'Running' })
      await harness.until(
        'the gangs in the status of the set',
        () => harness.set('grouped'),
        set =>
          JSON.stringify(set?.status?.podGangStatuses) ===
          JSON.stringify([
            { name: 'grouped-0', phase: 'Running' },
            { name: 'grouped-0-eng-0', phase: 'Running' },
          ]),
      )
      assert.equal(events().length, 1)
      await allow(harness, false)
    },
  },
  {
    name: 'a cause that began before the operator was restarted is reported once by the new operator',
    async run(harness) {
      await harness.apply(selective(solo, harness))
      await harness.until(
        'the scheduler to reject the pods',
        () => harness.gangs('solo'),
        ([gang]) => conditionOf(gang, 'Scheduled')?.reason === 'Unschedulable',
      )
      await harness.restartOperator()
      await untilCondition(harness, 'solo', 'Stalled', 'True')
      await harness.until(
        'one event',
        async () => harness.events.filter(({ reason }) => reason === 'GangUnschedulable'),
        seen => seen.length === 1,
      )
    },
  },
]
