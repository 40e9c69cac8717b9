// SPDX-License-Identifier: Apache-2.0

// Tests reconciles of a gang: when it is written, its status, and pods and gangs of other owners.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration, label, type PodCliqueSet, type PodGang } from '@grove/api'
import { FakeClock, type ReconcileContext, silentLogger } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { gangKey } from '../layout/gang-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { Memory } from '../memory/memory.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { clique, samplePod, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { gangCreationGraceMs, lostPodGraceMs } from '../timings/timings.ts'
import { GangReconciler } from './reconcile.ts'

const key = gangKey('serving/w/0')

function harness() {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const api = new SimulatedApi(clock)
  const events: string[] = []
  const blocked: string[] = []
  const memory = new Memory(api.caches, clock)
  const gangs = new GangReconciler(
    {
      caches: api.caches,
      clock,
      configuration: defaultConfiguration(),
      backends: schedulerBackends(['default-scheduler'], 'default-scheduler'),
      waiterImage: undefined,
      memory,
      events: { emit: (_, __, event) => events.push(event.reason) },
    },
    set => blocked.push(set),
  )
  const run: ReconcileContext = { signal: new AbortController().signal, clock, log: silentLogger } as never
  const set = api.put(
    resources.podCliqueSets,
    sampleSet({ cliques: [clique('a', { replicas: 2 })] }) as unknown as PodCliqueSet,
  )
  return {
    api,
    clock,
    events,
    blocked,
    failures: () => [...(memory.gangFailures.get(set as StoredSet)?.values() ?? [])],
    set,
    reconcile: () => gangs.reconcile(key, run),
    gang: () => api.get(resources.podGangs, 'w-0'),
    condition: () => api.get(resources.podGangs, 'w-0')?.status?.conditions?.[0],
    listed: () =>
      api
        .get(resources.podGangs, 'w-0')
        ?.spec.podgroups[0]?.podReferences.map(({ name }) => name)
        .join(),
    putClique: (uid: string) =>
      api.put(resources.podCliques, {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodClique',
        metadata: { name: 'w-0-a', namespace: 'serving', uid },
        spec: { replicas: 2 },
      } as never),
    putPod: (name: string, owner: string) => {
      const made = samplePod(name, { labels: { [label.podGang]: 'w-0' } })
      const ownerReferences = [
        { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'w-0-a', uid: owner, controller: true },
      ]
      return api.put(resources.pods, { ...made, metadata: { ...made.metadata, ownerReferences } })
    },
  }
}

describe('a gang', () => {
  test('is created once, with one event, when its pods exist in time', async () => {
    const { api, clock, events, reconcile, putClique, putPod, condition, listed } = harness()
    assert.deepEqual(await reconcile(), { requeueAfter: gangCreationGraceMs })
    assert.equal(api.writes, 0, 'not before its pods exist, within the grace period')
    putClique('new')
    putPod('p0', 'new')
    putPod('p1', 'new')
    await clock.advance(100)
    await reconcile()
    assert.equal(listed(), 'p0,p1')
    assert.equal(condition()?.status, 'True')
    const { writes } = api
    assert.equal(await reconcile(), undefined)
    assert.equal(api.writes, writes)
    assert.deepEqual(events, ['PodGangCreateOrUpdateSuccessful'])
  })

  test('records the generation for which it is complete soon after its list has changed', async () => {
    const { api, clock, reconcile, gang, condition, listed, putClique, putPod } = harness()
    putClique('new')
    putPod('p0', 'new')
    const pod = putPod('p1', 'new')
    await reconcile()
    const { generation, lastTransitionTime } = { ...gang()!.metadata, ...condition()! }
    assert.equal(condition()?.observedGeneration, generation)
    await clock.advance(60_000)
    api.remove(resources.pods as never, pod)
    api.remove(resources.pods as never, api.get(resources.pods, 'p1')!)
    putPod('p2', 'new')
    const wait = await reconcile()
    assert.equal(listed(), 'p0,p2')
    assert.equal(gang()!.metadata.generation, generation! + 1)
    if (wait) await clock.advance(wait.requeueAfter!)
    await reconcile()
    assert.equal(condition()?.observedGeneration, generation! + 1)
    assert.equal(condition()?.lastTransitionTime, lastTransitionTime, 'it was complete the whole time')
    const { writes } = api
    assert.equal(await reconcile(), undefined)
    assert.equal(api.writes, writes)
  })

  test('is created without its pods after the grace period and reports what is missing, debounced', async () => {
    const { clock, reconcile, condition, putClique, putPod, api } = harness()
    await reconcile()
    await clock.advance(gangCreationGraceMs)
    await reconcile()
    assert.equal(condition()?.message, 'PodClique w-0-a does not exist yet')
    putClique('new')
    putPod('p0', 'new')
    const { writes } = api
    assert.deepEqual(await reconcile(), { requeueAfter: lostPodGraceMs })
    assert.equal(api.writes, writes)
    await clock.advance(lostPodGraceMs)
    await reconcile()
    assert.equal(condition()?.message, 'PodClique w-0-a has 1 of 2 pods')
  })

  test('does not list pods of a deleted clique of the same name', async () => {
    const { clock, reconcile, listed, condition, putClique, putPod } = harness()
    putClique('new')
    putPod('old-0', 'former')
    putPod('old-1', 'former')
    await reconcile()
    await clock.advance(gangCreationGraceMs)
    await reconcile()
    assert.equal(listed(), '')
    assert.equal(condition()?.message, 'PodClique w-0-a has 0 of 2 pods')
    putPod('new-0', 'new')
    putPod('new-1', 'new')
    await reconcile()
    assert.equal(listed(), 'new-0,new-1')
  })

  test('is reported as incomplete only if a lost pod is not recreated at once', async () => {
    const { api, clock, reconcile, condition, listed, putClique, putPod } = harness()
    putClique('new')
    putPod('p0', 'new')
    const pod = putPod('p1', 'new')
    await reconcile()
    api.remove(resources.pods as never, pod)
    await reconcile()
    assert.equal(listed(), 'p0')
    assert.equal(condition()?.status, 'True')
    putPod('p2', 'new')
    await clock.advance(100)
    await reconcile()
    assert.equal(listed(), 'p0,p2')
    api.remove(resources.pods as never, api.get(resources.pods, 'p2')!)
    await reconcile()
    await clock.advance(lostPodGraceMs)
    await reconcile()
    assert.equal(condition()?.reason, 'PodGangPodsLost')
    putPod('p3', 'new')
    await reconcile()
    assert.equal(condition()?.reason, 'PodGangPodsCreated')
    assert.equal(listed(), 'p0,p3')
  })
})

describe('another gang with the name of a wanted gang', () => {
  const owned = (uid: string, name = 'w'): PodGang =>
    ({
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: {
        name: 'w-0',
        namespace: 'serving',
        ownerReferences: [
          { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueSet', name, uid, controller: true },
        ],
      },
      spec: { podgroups: [] },
    }) as PodGang

  test('is waited for if it belonged to a deleted set of the same name', async () => {
    const { api, reconcile, blocked, putClique, putPod, gang, set } = harness()
    putClique('new')
    putPod('p0', 'new')
    putPod('p1', 'new')
    const former = api.put(resources.podGangs, owned('former'))
    assert.equal(await reconcile(), undefined)
    assert.equal(api.writes, 0)
    assert.deepEqual(blocked, [])
    api.remove(resources.podGangs as never, former)
    await reconcile()
    assert.equal(gang()?.metadata.ownerReferences?.[0]?.uid, set.metadata.uid)
  })

  test('is reported while another owner controls it', async () => {
    const { api, reconcile, blocked, failures } = harness()
    const foreign = api.put(resources.podGangs, owned('theirs', 'other'))
    for (const _ of [1, 2]) await assert.rejects(reconcile(), { code: 'ERR_SET_CONTROLLER_REFERENCE' })
    assert.deepEqual(blocked, ['serving/w'], 'reported once, although it failed twice')
    assert.equal(failures().length, 1)
    api.remove(resources.podGangs as never, foreign)
    await reconcile()
    assert.deepEqual(failures(), [])
    assert.equal(blocked.length, 2)
  })

  test('follows its pods, debounced, and keeps the fields of other clients', async () => {
    const { api, clock, reconcile, gang, putClique, putPod } = harness()
    const summary = () => {
      const { phase, conditions = [] } = gang()!.status!
      return [phase, ...conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`)].join(' ')
    }
    const change = (name: string, shape: Parameters<typeof samplePod>[1]) => {
      const known = api.get(resources.pods, name)!
      const { spec, status } = samplePod(name, shape)
      api.put(resources.pods, { ...known, spec, status } as never)
    }
    const writeStatus = async () => {
      const wait = await reconcile()
      assert.ok(wait?.requeueAfter, 'written after the delay')
      await clock.advance(wait.requeueAfter)
      await reconcile()
    }
    putClique('new')
    for (const name of ['p0', 'p1']) putPod(name, 'new')
    for (const name of ['p0', 'p1']) change(name, { phase: 'Pending', gated: true })
    await reconcile()
    assert.equal(
      summary(),
      'Pending Initialized=True/PodGangPodsCreated Scheduled=False/PodsGated Ready=False/PodsNotReady Unhealthy=False/NotScheduled',
    )
    change('p0', { node: 'n' })
    change('p1', { phase: 'Pending', unschedulable: '0/1 nodes are available: 1 Insufficient cpu.' })
    await writeStatus()
    assert.match(summary(), /^Pending .* Scheduled=False\/Unschedulable /)
    const cause = () => gang()!.status!.conditions!.find(({ type }) => type === 'Scheduled')
    assert.equal(cause()?.message, 'PodClique w-0-a: 0/1 nodes are available: 1 Insufficient cpu.')
    change('p1', { node: 'n', phase: 'Running', ready: false })
    await writeStatus()
    assert.match(
      summary(),
      /^Running .* Scheduled=True\/Bound Ready=False\/PodsNotReady Unhealthy=False\/Bound$/,
    )
    change('p1', { node: 'n' })
    await writeStatus()
    assert.match(summary(), /^Running .* Ready=True\/PodsReady/)
    api.put(resources.podGangs, { ...gang()!, status: { ...gang()!.status!, placementScore: 0.5 } })
    change('p0', { phase: 'Pending', unschedulable: 'no room' })
    await writeStatus()
    assert.match(summary(), /^Pending .* Scheduled=False\/Unschedulable .* Unhealthy=True\/BelowMinimum$/)
    assert.equal(gang()!.status!.placementScore, 0.5)
    const { writes } = api
    assert.equal(await reconcile(), undefined)
    assert.equal(api.writes, writes)
  })
})
