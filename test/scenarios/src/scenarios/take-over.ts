// SPDX-License-Identifier: Apache-2.0

// Sets of another operator or of another version of this one. Pods that are up to date stay, and an update in progress
// is finished.
import assert from 'node:assert/strict'
import {
  formerGenerationHash,
  generationHash,
  label,
  type Pod,
  type PodCliqueSetSpec,
  podTemplateAlgorithm,
  restoreRecord,
} from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { numberOf, recordOf, resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import { foreignNames, leaveAs, type Predecessor, predecessors, previousRelease } from '../predecessor.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const name = 'grouped'
/** A scheduling gate that holds back new pods until the scenario removes it. */
const hold = 'example.com/hold'

export const takeOverScenarios: Scenario[] = [
  ...Object.entries(predecessors).flatMap(([who, predecessor]) => [
    converged(who, predecessor),
    afterUpdates(who, predecessor),
    onDelete(who, predecessor),
    midway(who, predecessor),
  ]),
  {
    name: 'reads revisions that the previous release recorded, and a set can be rolled back to them',
    async run(harness) {
      await harness.apply(
        solo.replace('cliques:', 'cliqueStartupType: CliqueStartupTypeInOrder\n    cliques:'),
      )
      await harness.untilReady('solo', 2)
      const specs = [(await harness.set('solo'))!.spec]
      await editCliques(harness, 'solo', withImage('web', 'registry.example/web:2'))
      await untilUpdated(harness, 'solo')
      const before = await harness.untilReady('solo', 2)
      specs.push((await harness.set('solo'))!.spec)
      await handOver(harness, 'solo', previousRelease, specs)
      const recorded = async () =>
        (await harness.list(resources.controllerRevisions, 'solo')).sort((a, b) => numberOf(a) - numberOf(b))
      const hashOf = ({ metadata }: KubeObject) => metadata?.labels?.[label.generationHash]
      const [first, second] = await harness.until(
        'the record of the current revision to have its new name',
        recorded,
        records => hashOf(records.at(-1)!) === generationHash(specs[1]!),
      )
      await untilOurs(harness, 'solo')
      // The objects are those of the previous release. The older revision does not even have its label.
      assert.deepEqual(
        [first, second].map(one => [one!.revision, one!.metadata.name]),
        specs.map((spec, at) => [at + 1, `solo-${formerGenerationHash(spec)}`]),
      )
      assert.equal(hashOf(first!), formerGenerationHash(specs[0]!))
      assert.deepEqual(uids(await harness.pods('solo')), uids(before))
      const restored = restoreRecord((await harness.set('solo'))!.spec.template, recordOf(first!)!)
      assert.ok('template' in restored)
      await harness.patchSet('solo', { spec: { template: restored.template } })
      await untilUpdated(harness, 'solo')
      const after = await harness.untilReady('solo', 2)
      assert.deepEqual(after.map(imageOf), ['registry.example/web:1', 'registry.example/web:1'])
      const records = await harness.until(
        'the older revision to be the newest',
        recorded,
        ([, newest]) => newest?.metadata.uid === first!.metadata.uid,
      )
      assert.deepEqual(
        records.map(one => [one.revision, hashOf(one)]),
        [
          [2, generationHash(specs[1]!)],
          [3, generationHash(specs[0]!)],
        ],
      )
    },
  },
]

function converged(who: string, predecessor: Predecessor): Scenario {
  return {
    name: `takes over a converged set of ${who} without restarting a pod`,
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady(name, 10)
      await harness.untilAvailable(name, 1)
      await handOver(harness, name, predecessor, [await specOf(harness)])
      await untilOurs(harness)
      assert.deepEqual(uids(await harness.pods(name)), uids(before))
      assert.equal((await harness.set(name))!.status?.updateProgress, undefined)
      await harness.untilQuiet()
      // The previous release used the same pod hashes: only statuses and the record are renamed.
      if (!predecessor.isForeign)
        assert.deepEqual([...new Set(harness.writes.map(({ resource }) => resource))].sort(), [
          'controllerrevisions.apps',
          'podcliques.grove.io/status',
          'podcliquescalinggroups.grove.io/status',
          'podcliquesets.grove.io/status',
        ])
      harness.writes.length = 0
      // The adopted set scales and updates like any other set, in spite of the former hashes.
      await editCliques(harness, name, withImage('router', 'registry.example/router:2'))
      await untilUpdated(harness, name)
      const after = await harness.untilReady(name, 10)
      assert.equal(after.filter(pod => imageOf(pod) === 'registry.example/router:2').length, 2)
      assert.equal(keptOf(before, after).length, 8)
      await harness.deleteSet(name)
      await harness.until(
        'no hash and no finalizer of another operator to be left',
        async () => [...(await harness.cliques(name)), ...(await harness.groups(name))],
        left => left.length === 0,
      )
    },
  }
}

function afterUpdates(who: string, predecessor: Predecessor): Scenario {
  return {
    name: `takes over a set that ${who} has updated before, without restarting a pod`,
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady(name, 10)
      await harness.untilAvailable(name, 1)
      const specs = [await specOf(harness)]
      for (const image of ['registry.example/engine:2', 'registry.example/engine:3']) {
        await editCliques(harness, name, withImage('work', image))
        await untilUpdated(harness, name)
        specs.push(await specOf(harness))
      }
      const before = await harness.untilReady(name, 10)
      const { updateProgress } = (await harness.set(name))!.status!
      await handOver(harness, name, predecessor, specs)
      await untilOurs(harness)
      assert.deepEqual(uids(await harness.pods(name)), uids(before))
      const after = (await harness.set(name))!.status!.updateProgress
      assert.equal(after?.updateStartedAt, updateProgress?.updateStartedAt)
      assert.equal(after?.updateEndedAt, updateProgress?.updateEndedAt)
    },
  }
}

function onDelete(who: string, predecessor: Predecessor): Scenario {
  return {
    name: `with OnDelete, keeps old and new pods of ${who}, and replaces deleted old ones by new ones`,
    async run(harness) {
      await harness.apply(grouped.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}'))
      const first = await harness.untilReady(name, 10)
      await harness.untilAvailable(name, 1)
      const specs = [await specOf(harness)]
      await editCliques(harness, name, withImage('router', 'registry.example/router:2'))
      await harness.until(
        'the update to be recorded',
        () => harness.set(name),
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      await harness.untilQuiet()
      specs.push(await specOf(harness))
      const [old, other] = first.filter(pod => imageOf(pod) === 'registry.example/router:1')
      await harness.deletePod(old!.metadata.name)
      const before = await harness.until(
        'a router of the new template',
        () => harness.pods(name),
        pods =>
          pods.length === 10 &&
          pods.every(isReady) &&
          pods.some(pod => imageOf(pod) === 'registry.example/router:2'),
      )
      await handOver(harness, name, predecessor, specs)
      await harness.until(
        'the up-to-date pods to get the hash of this operator',
        () => harness.pods(name),
        // The previous release used the same hash for the outdated pod.
        pods => pods.filter(pod => isOurs(pod)).length === (predecessor.isForeign ? 9 : 10),
      )
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods(name)), uids(before))
      await harness.deletePod(other!.metadata.name)
      const after = await harness.until(
        'both routers of the new template',
        () => harness.pods(name),
        pods =>
          pods.length === 10 &&
          pods.every(isReady) &&
          pods.filter(pod => imageOf(pod) === 'registry.example/router:2').length === 2,
      )
      assert.equal(keptOf(before, after).length, 9)
      await untilOurs(harness)
    },
  }
}

function midway(who: string, predecessor: Predecessor): Scenario {
  return {
    name: `finishes an update that ${who} has started, and does not touch the replicas that it has finished`,
    async run(harness) {
      await harness.apply(grouped.replace('replicas: 1', 'replicas: 3'))
      await harness.untilReady(name, 30)
      await harness.untilAvailable(name, 3)
      const specs = [await specOf(harness)]
      await editCliques(harness, name, cliques => {
        for (const { spec } of cliques) spec.podSpec.schedulingGates = [{ name: hold }]
        return withImage(
          'router',
          'registry.example/router:2',
        )(withImage('work', 'registry.example/engine:2')(cliques))
      })
      specs.push(await specOf(harness))
      // The gates of the first replica are removed. The second replica stops with its first new pods.
      await harness.until(
        'the second replica to be selected',
        async () => {
          await release(harness, '0')
          return { set: await harness.set(name), pods: await harness.pods(name) }
        },
        ({ set, pods }) =>
          set?.status?.updateProgress?.currentlyUpdating?.[0]?.replicaIndex === 1 &&
          pods.some(pod => replicaOf(pod) === '1' && imageOf(pod) === 'registry.example/router:2'),
      )
      const { updateStartedAt } = (await harness.set(name))!.status!.updateProgress!
      await handOver(harness, name, predecessor, specs)
      const before = (await harness.pods(name)).filter(pod => !pod.metadata.deletionTimestamp)
      const finished = before.filter(
        pod => replicaOf(pod) === '0' || imageOf(pod) === 'registry.example/router:2',
      )
      assert.ok(finished.length > 10 && finished.length < 20, `${finished.length} pods were up to date`)
      await harness.until(
        'the update to be finished',
        async () => {
          await release(harness)
          return harness.set(name)
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 3,
      )
      const after = await harness.untilReady(name, 30)
      assert.equal(keptOf(finished, after).length, finished.length, 'pods that were up to date')
      const images = after.map(imageOf)
      assert.equal(images.filter(image => image === 'registry.example/router:2').length, 6)
      assert.equal(images.filter(image => image === 'registry.example/engine:2').length, 18)
      // It is the same update, not a new one.
      assert.equal((await harness.set(name))!.status!.updateProgress!.updateStartedAt, updateStartedAt)
      await untilOurs(harness)
    },
  }
}

/** Removes the gate of the template from all pods, or from those of one set replica. */
async function release(harness: Harness, replica?: string): Promise<void> {
  for (const pod of await harness.pods(name)) {
    const held = pod.spec?.schedulingGates?.some(gate => gate.name === hold)
    if (!held || pod.metadata.deletionTimestamp || (replica && replicaOf(pod) !== replica)) continue
    const patch = { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } }
    const ref = { name: pod.metadata.name, namespace: harness.namespace }
    await harness.client.patch(resources.pods, ref, { strategic: patch })
  }
}

async function handOver(
  harness: Harness,
  set: string,
  predecessor: Predecessor,
  specs: readonly PodCliqueSetSpec[],
): Promise<void> {
  await harness.untilQuiet()
  await harness.stopOperator()
  await leaveAs(harness, set, predecessor, specs)
  harness.writes.length = 0
  await harness.startOperator()
}

async function untilOurs(harness: Harness, set = name): Promise<void> {
  await harness.until(
    'every hash to be one of this operator',
    () => foreignNames(harness, set),
    names => names.length === 0,
  )
}

async function specOf(harness: Harness): Promise<PodCliqueSetSpec> {
  return (await harness.set(name))!.spec
}

function keptOf(before: readonly Stored<Pod>[], after: readonly Stored<Pod>[]): string[] {
  const now = new Set(uids(after))
  return uids(before).filter(uid => now.has(uid))
}

function replicaOf(pod: Pod): string | undefined {
  return pod.metadata.labels?.[label.setReplicaIndex]
}

function isOurs(pod: Pod): boolean {
  return pod.metadata.labels?.[label.podTemplateHash]?.startsWith(`${podTemplateAlgorithm}-`) ?? false
}
