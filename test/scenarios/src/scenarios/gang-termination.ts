// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { annotation, type Pod, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

/** Reports a running pod as ready or not ready, like a kubelet. */
export async function report(harness: Harness, pod: Stored<Pod>, ready: boolean): Promise<void> {
  const { name, namespace } = pod.metadata
  const current = await harness.client.get(resources.pods, { name, namespace: namespace! })
  await harness.client.patch(
    resources.pods,
    { name, namespace: namespace! },
    {
      merge: {
        status: {
          conditions: current.status!.conditions!.map(condition =>
            condition.type === 'Ready' || condition.type === 'ContainersReady'
              ? { ...condition, status: ready ? 'True' : 'False' }
              : condition,
          ),
          containerStatuses: current.status!.containerStatuses!.map(status => ({
            ...status,
            started: true,
            ready,
          })),
        },
      },
    },
    { subresource: 'status' },
  )
}

const impatient = (manifest: string, delay: string) =>
  manifest.replace('template:', `template:\n    terminationDelay: ${delay}`)
const uids = (objects: readonly { metadata: { uid: string } }[]) =>
  objects.map(({ metadata }) => metadata.uid)

export const gangTerminationScenarios: Scenario[] = [
  {
    name: 'a replica that stays below its minimum is terminated and recreated as a whole',
    async run(harness) {
      await harness.apply(impatient(solo, '1s'))
      const before = await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      const cliques = uids(await harness.cliques('solo'))
      await report(harness, before[0]!, false)
      await harness.until(
        'another clique',
        () => harness.cliques('solo'),
        found => found.length === 1 && !cliques.includes(found[0]!.metadata.uid),
      )
      const after = await harness.untilReady('solo', 2)
      for (const pod of before) assert.ok(!uids(after).includes(pod.metadata.uid))
      await harness.untilAvailable('solo', 1)
    },
  },
  {
    name: 'emits an event before a termination, with its time and reason, and one event after it',
    async run(harness) {
      await harness.apply(impatient(solo, '5s'))
      const [first] = await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      const begun = harness.now()
      await report(harness, first!, false)
      const reasons = ['GangTerminationScheduled', 'PodCliqueSetReplicaDeleteSuccessful']
      const emitted = async () => harness.events.filter(({ reason }) => reasons.includes(reason))
      await harness.until('the announcement', emitted, ({ length }) => length > 0)
      await harness.fastForward(5_000)
      await harness.until('the event of the termination', emitted, seen => seen.at(-1)?.reason === reasons[1])
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      const seen = await emitted()
      assert.deepEqual(
        seen.map(({ about, reason }) => [about, reason]),
        reasons.map(reason => ['solo', reason]),
      )
      const { message } = seen[0]!
      const [, deadline = ''] =
        /^Replica 0 of PodCliqueSet solo will be terminated at (\S+) and .* unless it recovers: .*PodClique solo-0-web/.exec(
          message,
        ) ?? []
      // Timestamps have whole seconds.
      assert.ok(Date.parse(deadline) >= begun + 4_000, message)
    },
  },
  {
    name: 'a manually scaled clique has the same size after a termination, and the record of its size is removed',
    async run(harness) {
      await harness.apply(impatient(solo, '1s'))
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      await harness.scale(resources.podCliques, 'solo-0-web', 4)
      const pods = await harness.untilReady('solo', 4)
      const [before] = await harness.cliques('solo')
      await Promise.all(pods.slice(1).map(pod => report(harness, pod, false)))
      const [after] = await harness.until(
        'another clique',
        () => harness.cliques('solo'),
        found => found.length === 1 && found[0]!.metadata.uid !== before!.metadata.uid,
      )
      assert.equal(after!.spec.replicas, 4)
      await harness.untilReady('solo', 4)
      await harness.until(
        'the annotation of the set to be removed',
        () => harness.set('solo'),
        set => set?.metadata.annotations?.[annotation.countsBeforeTermination] === undefined,
      )
      // A clique that a user deletes is recreated with the size of the template.
      await harness.client.delete(resources.podCliques, { name: 'solo-0-web', namespace: harness.namespace })
      await harness.until(
        'a clique with the replicas of the template',
        () => harness.cliques('solo'),
        ([found]) => found !== undefined && found.metadata.uid !== after!.metadata.uid,
      )
      await harness.untilReady('solo', 2)
    },
  },
  {
    name: 'a recovery before the deadline cancels the termination',
    async run(harness) {
      await harness.apply(impatient(solo, '5s'))
      const before = await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      await report(harness, before[0]!, false)
      const breach = (status: string) =>
        harness.until(
          'the MinAvailableBreached condition of the clique',
          () => harness.cliques('solo'),
          ([clique]) =>
            (clique?.status?.conditions ?? []).some(
              one => one.type === 'MinAvailableBreached' && one.status === status,
            ),
        )
      await breach('True')
      await report(harness, before[0]!, true)
      await breach('False')
      await harness.elapse(6_000)
      assert.deepEqual(uids(await harness.pods('solo')).sort(), uids(before).sort())
    },
  },
  {
    name: 'only the group replica is recreated if the group has enough other replicas',
    async run(harness) {
      await harness.apply(impatient(grouped, '1s'))
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      const member = (pod: Stored<Pod>) => pod.metadata.name.startsWith('grouped-0-eng-1-')
      await report(harness, before.find(pod => pod.metadata.name.startsWith('grouped-0-eng-1-lead'))!, false)
      const after = await harness.until(
        'new pods in group replica 1',
        () => harness.pods('grouped'),
        pods =>
          pods.length === 10 && pods.filter(member).every(pod => !uids(before).includes(pod.metadata.uid)),
      )
      assert.deepEqual(
        uids(after.filter(pod => !member(pod))).sort(),
        uids(before.filter(pod => !member(pod))).sort(),
      )
      await harness.untilReady('grouped', 10)
    },
  },
  {
    name: 'a group below its minimum terminates its whole replica and has a condition until it recovers; a set that was never scheduled is not terminated',
    async run(harness) {
      const nowhere = solo.replace('podSpec: {', "podSpec: {nodeSelector: {example.com/nowhere: 'true'}, ")
      await harness.apply(impatient(nowhere, '1s'))
      await harness.apply(impatient(grouped.replace('replicas: 1', 'replicas: 2'), '3s'))
      const before = await harness.untilReady('grouped', 20)
      await harness.untilAvailable('grouped', 2)
      const [waiting] = await harness.until(
        'the condition of the clique with unschedulable pods',
        () => harness.cliques('solo'),
        ([clique]) => breachOf(clique) === 'False',
      )
      const cliques = await harness.cliques('grouped')
      const ofReplica = (all: typeof cliques, replica: number) =>
        uids(all.filter(({ metadata }) => metadata.name.startsWith(`grouped-${replica}-`))).sort()
      await using record = new MarkRecord(harness)
      // Both must fail before the first deadline: one alone would only terminate its group replica.
      const leads = before.filter(({ metadata }) => /^grouped-0-eng-\d-lead/.test(metadata.name))
      await Promise.all(leads.map(pod => report(harness, pod, false)))
      await harness.until(
        'the group to be marked',
        async () => record.marked,
        ({ size }) => size > 0,
      )
      const now = await harness.until(
        'every clique of the replica to be recreated',
        () => harness.cliques('grouped'),
        all => all.length === cliques.length && isDisjoint(ofReplica(cliques, 0), ofReplica(all, 0)),
      )
      assert.deepEqual(ofReplica(now, 1), ofReplica(cliques, 1))
      const after = await harness.untilReady('grouped', 20)
      await harness.until(
        'the condition to be removed',
        () => harness.groups('grouped'),
        groups => !groups.some(isMarked),
      )
      assert.deepEqual([...record.marked], ['grouped-0-eng'])
      assert.equal(uids(after).filter(uid => uids(before).includes(uid)).length, 10, 'the other replica')
      const [still] = await harness.cliques('solo')
      assert.equal(still!.metadata.uid, waiting!.metadata.uid)
      assert.equal(breachOf(still), 'False')
    },
  },
]

const isMarked = ({ status }: PodCliqueScalingGroup) =>
  status?.conditions?.some(one => one.type === 'GangTerminationInProgress' && one.status === 'True') === true

/** Records the groups with the condition, which may be True only for a moment. */
class MarkRecord implements AsyncDisposable {
  readonly marked = new Set<string>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor({ client, namespace }: Harness) {
    const groups = new WatchCache(client, resources.podCliqueScalingGroups, { namespace })
    groups.onChange(({ new: group }) => {
      if (group && isMarked(group)) this.marked.add(group.metadata.name)
    })
    this.#running = groups.run(this.#stop.signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

const isDisjoint = (some: readonly string[], others: readonly string[]) =>
  some.every(uid => !others.includes(uid))

function breachOf(clique: PodClique | undefined): string | undefined {
  return clique?.status?.conditions?.find(({ type }) => type === 'MinAvailableBreached')?.status
}
