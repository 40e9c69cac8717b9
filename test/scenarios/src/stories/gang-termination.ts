// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { annotation, type Pod, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped, solo } from './manifests.ts'

/** Lets a pod run without serving, or serve again: what a kubelet would report. */
export async function report(stage: Stage, pod: Stored<Pod>, ready: boolean): Promise<void> {
  const { name, namespace } = pod.metadata
  const current = await stage.client.get(resources.pods, { name, namespace: namespace! })
  await stage.client.patch(
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

export const gangTerminationStories: Story[] = [
  {
    name: 'a replica that stays below its minimum is taken down as a whole and built anew',
    async tell(stage) {
      await stage.apply(impatient(solo, '1s'))
      const before = await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      const cliques = uids(await stage.cliques('solo'))
      await report(stage, before[0]!, false)
      await stage.until(
        'another clique',
        () => stage.cliques('solo'),
        found => found.length === 1 && !cliques.includes(found[0]!.metadata.uid),
      )
      const after = await stage.untilReady('solo', 2)
      for (const pod of before) assert.ok(!uids(after).includes(pod.metadata.uid))
      await stage.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a termination is told of before it comes, with its time and its reason, and once when it is done',
    async tell(stage) {
      await stage.apply(impatient(solo, '5s'))
      const [first] = await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      const begun = Date.now()
      await report(stage, first!, false)
      const tellings = ['GangTerminationScheduled', 'PodCliqueSetReplicaDeleteSuccessful']
      const told = async () => stage.told.filter(({ reason }) => tellings.includes(reason))
      await stage.until('the end to be told of', told, seen => seen.at(-1)?.reason === tellings[1])
      await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      const seen = await told()
      assert.deepEqual(
        seen.map(({ about, reason }) => [about, reason]),
        tellings.map(reason => ['solo', reason]),
      )
      const { message } = seen[0]!
      const [, deadline = ''] =
        /^Replica 0 of PodCliqueSet solo will be terminated at (\S+) and recreated unless it recovers: .*PodClique solo-0-web/.exec(
          message,
        ) ?? []
      // Times are stored in whole seconds.
      assert.ok(Date.parse(deadline) >= begun + 4_000, message)
    },
  },
  {
    name: 'a clique that was scaled by hand comes back from a termination with as many pods, and nothing is kept of it',
    async tell(stage) {
      await stage.apply(impatient(solo, '1s'))
      await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      await stage.scale(resources.podCliques, 'solo-0-web', 4)
      const pods = await stage.untilReady('solo', 4)
      const [before] = await stage.cliques('solo')
      await Promise.all(pods.slice(1).map(pod => report(stage, pod, false)))
      const [after] = await stage.until(
        'another clique',
        () => stage.cliques('solo'),
        found => found.length === 1 && found[0]!.metadata.uid !== before!.metadata.uid,
      )
      assert.equal(after!.spec.replicas, 4)
      await stage.untilReady('solo', 4)
      await stage.until(
        'the set to forget',
        () => stage.set('solo'),
        set => set?.metadata.annotations?.[annotation.countsBeforeTermination] === undefined,
      )
      // Whoever deletes it himself gets what the template says.
      await stage.client.delete(resources.podCliques, { name: 'solo-0-web', namespace: stage.namespace })
      await stage.until(
        'a clique of the template',
        () => stage.cliques('solo'),
        ([found]) => found !== undefined && found.metadata.uid !== after!.metadata.uid,
      )
      await stage.untilReady('solo', 2)
    },
  },
  {
    name: 'a recovery in time cancels the termination',
    async tell(stage) {
      await stage.apply(impatient(solo, '5s'))
      const before = await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      await report(stage, before[0]!, false)
      const breach = (status: string) =>
        stage.until(
          'the breach to be judged',
          () => stage.cliques('solo'),
          ([clique]) =>
            (clique?.status?.conditions ?? []).some(
              one => one.type === 'MinAvailableBreached' && one.status === status,
            ),
        )
      await breach('True')
      await report(stage, before[0]!, true)
      await breach('False')
      await new Promise(resolve => setTimeout(resolve, 6_000))
      assert.deepEqual(uids(await stage.pods('solo')).sort(), uids(before).sort())
    },
  },
  {
    name: 'a group replica that the group can do without is recycled alone',
    async tell(stage) {
      await stage.apply(impatient(grouped, '1s'))
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      const member = (pod: Stored<Pod>) => pod.metadata.name.startsWith('grouped-0-eng-1-')
      await report(stage, before.find(pod => pod.metadata.name.startsWith('grouped-0-eng-1-lead'))!, false)
      const after = await stage.until(
        'new pods in group replica 1',
        () => stage.pods('grouped'),
        pods =>
          pods.length === 10 && pods.filter(member).every(pod => !uids(before).includes(pod.metadata.uid)),
      )
      assert.deepEqual(
        uids(after.filter(pod => !member(pod))).sort(),
        uids(before.filter(pod => !member(pod))).sort(),
      )
      await stage.untilReady('grouped', 10)
    },
  },
  {
    name: 'a group below its minimum takes its whole replica along and is marked until it is well; what never ran is left alone',
    async tell(stage) {
      const nowhere = solo.replace('podSpec: {', "podSpec: {nodeSelector: {example.com/nowhere: 'true'}, ")
      await stage.apply(impatient(nowhere, '1s'))
      await stage.apply(impatient(grouped.replace('replicas: 1', 'replicas: 2'), '3s'))
      const before = await stage.untilReady('grouped', 20)
      await stage.untilAvailable('grouped', 2)
      const [waiting] = await stage.until(
        'the pods that have no place to be judged',
        () => stage.cliques('solo'),
        ([clique]) => breachOf(clique) === 'False',
      )
      const cliques = await stage.cliques('grouped')
      const ofReplica = (all: typeof cliques, replica: number) =>
        uids(all.filter(({ metadata }) => metadata.name.startsWith(`grouped-${replica}-`))).sort()
      await using record = new MarkRecord(stage)
      // Both before the first one's time is over: alone it would be recycled.
      const leads = before.filter(({ metadata }) => /^grouped-0-eng-\d-lead/.test(metadata.name))
      await Promise.all(leads.map(pod => report(stage, pod, false)))
      await stage.until(
        'the group to be marked',
        async () => record.marked,
        ({ size }) => size > 0,
      )
      const now = await stage.until(
        'every clique of the replica to be another',
        () => stage.cliques('grouped'),
        all => all.length === cliques.length && isDisjoint(ofReplica(cliques, 0), ofReplica(all, 0)),
      )
      assert.deepEqual(ofReplica(now, 1), ofReplica(cliques, 1))
      const after = await stage.untilReady('grouped', 20)
      await stage.until(
        'the mark to go',
        () => stage.groups('grouped'),
        groups => !groups.some(isMarked),
      )
      assert.deepEqual([...record.marked], ['grouped-0-eng'])
      assert.equal(uids(after).filter(uid => uids(before).includes(uid)).length, 10, 'the other replica')
      const [still] = await stage.cliques('solo')
      assert.equal(still!.metadata.uid, waiting!.metadata.uid)
      assert.equal(breachOf(still), 'False')
    },
  },
]

const isMarked = ({ status }: PodCliqueScalingGroup) =>
  status?.conditions?.some(one => one.type === 'GangTerminationInProgress' && one.status === 'True') === true

/** The groups that are marked at any moment: where all goes well again at once, it is a short one. */
class MarkRecord implements AsyncDisposable {
  readonly marked = new Set<string>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor({ client, namespace }: Stage) {
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
