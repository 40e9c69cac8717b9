// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation, type Pod, type PodClique } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { findCondition } from '../state/conditions.ts'
import { isFinished, isTerminating } from '../state/pod-state.ts'
import { clique, samplePod, sampleSet } from '../testing/sample-set.ts'
import { type WatchedSet, watchedSet } from '../testing/simulation/watched-set.ts'
import { healthyAfterMs, longestReplacementDelayMs } from '../timings/timings.ts'
import { failuresAfter, failuresBefore, replacedAt } from './back-off.ts'

const created = '2030-01-01T00:00:00Z'
const delayAfter = (failures: number | string) =>
  replacedAt(samplePod('p', { phase: 'Failed', created, failures })) - Date.parse(created)

const delays: [failures: number | string, seconds: number][] = [
  [0, 1],
  [1, 2],
  [2, 4],
  [7, 128],
  [8, 256],
  [9, 300],
  [999_999, 300],
  ['', 1],
  ['nine', 1],
  ['-1', 1],
  ['1e9', 1],
  ['12345678901234567890', 1],
]
for (const [failures, seconds] of delays)
  test(`after "${failures}" failures in a row the next replacement is created ${seconds} s after the creation`, () =>
    assert.equal(delayAfter(failures), seconds * 1_000))

test('a pod without a creation time is replaced at once', () => {
  const pod = samplePod('p', { phase: 'Failed', created: 'soon' })
  assert.equal(replacedAt(pod), Number.NEGATIVE_INFINITY)
})

test('a series of failures ends with a pod that ran for the healthy period', () => {
  const pod = samplePod('p', { phase: 'Failed', created, failures: 6 })
  assert.equal(failuresAfter(pod, Date.parse(created) + healthyAfterMs - 1), 7)
  assert.equal(failuresAfter(pod, Date.parse(created) + healthyAfterMs), 1)
})

test('a pod that waits for the longest delay does not count as healthy', () => {
  assert.ok(longestReplacementDelayMs < healthyAfterMs)
})

const replicas = 8
const web = 'w-0-web'
const failingSet = sampleSet({ name: 'w', cliques: [clique('web', { replicas, minAvailable: 1 })] })

const pods = ({ simulation }: WatchedSet) => simulation.api.list(resources.pods) as Stored<Pod>[]
const cliqueOf = ({ simulation }: WatchedSet) =>
  simulation.api.get(resources.podCliques, web) as Stored<PodClique>

function fail({ simulation }: WatchedSet, pod: Stored<Pod>): void {
  const conditions = [{ type: 'PodScheduled', status: 'True' }]
  simulation.api.modify(resources.pods, pod.metadata.name, {
    status: { phase: 'Failed', reason: 'UnexpectedAdmissionError', conditions },
  })
}

/** Lets every ungated pod fail immediately, and removes every deleted pod. */
async function failEverything(watched: WatchedSet): Promise<void> {
  const { simulation } = watched
  for (const [kind, name] of [
    ['clique', web],
    ['gang', 'w/0'],
    ['clique', web],
  ] as const)
    await simulation.reconcileOne(kind, name)
  for (const pod of pods(watched))
    if (isTerminating(pod)) simulation.api.remove(resources.pods, pod)
    else if (!isFinished(pod) && !pod.spec?.schedulingGates?.length) fail(watched, pod)
}

test('a clique of 8 whose pods fail immediately creates 4 pods per index in 15 s, even if the operator keeps restarting', async () => {
  for (const restarts of [false, true]) {
    const watched = await watchedSet(failingSet)
    const { simulation } = watched
    await simulation.clock.advance(healthyAfterMs)
    const before = new Set(pods(watched).map(({ metadata }) => metadata.uid))
    for (const pod of pods(watched)) fail(watched, pod)
    const createdPods = new Map<string, number>()
    const start = simulation.clock.now()
    const stepMs = 100
    for (let ms = 0; ms < 15_000; ms += stepMs) {
      await failEverything(watched)
      if (restarts) simulation.restart()
      for (const { metadata } of pods(watched))
        if (!before.has(metadata.uid) && !createdPods.has(metadata.uid))
          createdPods.set(metadata.uid, simulation.clock.now() - start)
      await simulation.clock.advance(stepMs)
    }
    const times = [...createdPods.values()]
    const createdUntil = (seconds: number) => times.filter(ms => ms <= seconds * 1_000).length
    assert.deepEqual(
      [0, 1.9, 2, 5.9, 6, 13.9, 14, 15].map(createdUntil),
      [1, 1, 2, 2, 3, 3, 4, 4].map(each => each * replicas),
      `restarts: ${restarts}`,
    )
  }
})

test('the status reports the failing index, its failures and the next attempt, and recovers', async () => {
  const watched = await watchedSet(failingSet)
  const { simulation } = watched
  const [pod] = pods(watched)
  const index = pod!.metadata.labels!['grove.io/podclique-pod-index']
  const ofIndex = () =>
    pods(watched).find(
      one => !isTerminating(one) && one.metadata.labels!['grove.io/podclique-pod-index'] === index,
    )!
  await simulation.clock.advance(healthyAfterMs)
  const delayAfterFailure: (number | undefined)[] = []
  for (let failure = 1; failure <= 4; failure++) {
    fail(watched, ofIndex())
    const begun = simulation.clock.now()
    const failed = ofIndex().metadata.uid
    while (ofIndex().metadata.uid === failed) {
      await simulation.reconcileOne('clique', web)
      if (ofIndex().metadata.uid === failed) await simulation.clock.advance(1_000)
    }
    delayAfterFailure.push((simulation.clock.now() - begun) / 1_000)
    assert.equal(ofIndex().metadata.annotations?.[annotation.consecutiveFailures], String(failure))
  }
  assert.deepEqual(delayAfterFailure, [0, 2, 4, 8])

  fail(watched, ofIndex())
  await simulation.reconcileOne('clique', web)
  await simulation.clock.advance(1_000)
  await simulation.reconcileOne('clique', web)
  const condition = () => findCondition(cliqueOf(watched).status?.conditions, 'PodsFailing')
  assert.equal(condition()?.status, 'True')
  assert.match(
    condition()!.message,
    new RegExp(
      `^The pod with index ${index} failed 5 times in a row \\(UnexpectedAdmissionError\\), next attempt at \\S+Z$`,
    ),
  )
  assert.equal(cliqueOf(watched).status?.replicas, replicas - 1, 'failed pods do not count as replicas')

  await simulation.clock.advance(16_000)
  await simulation.reconcileOne('clique', web)
  await simulation.reconcileOne('gang', 'w/0')
  await simulation.reconcileOne('clique', web)
  while (simulation.nodes.progress());
  await simulation.clock.advance(1_000)
  await simulation.reconcileOne('clique', web)
  assert.equal(condition()?.status, 'False')
  assert.equal(cliqueOf(watched).status?.readyReplicas, replicas)

  await simulation.clock.advance(healthyAfterMs)
  fail(watched, ofIndex())
  await simulation.reconcileOne('clique', web)
  assert.equal(failuresBefore(ofIndex()), 1, 'a new series')
})

test('reconciles when the next replacement is due, and not before', async () => {
  const watched = await watchedSet(failingSet)
  const { simulation } = watched
  for (const pod of pods(watched)) fail(watched, pod)
  await failEverything(watched)
  const dueAt = await simulation.requeueAt(web)
  const waiting = pods(watched).filter(pod => isFinished(pod) && !isTerminating(pod))
  assert.equal(dueAt, Math.min(...waiting.map(replacedAt)))
})

test('a replacement that becomes due during a reconcile is not missed', async () => {
  const watched = await watchedSet(failingSet)
  const { simulation } = watched
  for (const pod of pods(watched)) fail(watched, pod)
  await failEverything(watched)
  // The status write is due now, the replacements are not.
  await simulation.clock.advance(1_000)
  const { hooks } = simulation.api
  simulation.api.hooks = {
    ...hooks,
    before: async write => {
      await hooks.before(write)
      if (write.resource === 'podcliques') await simulation.clock.advance(longestReplacementDelayMs)
    },
  }
  const dueAt = await simulation.requeueAt(web)
  assert.ok(pods(watched).some(pod => isFinished(pod) && !isTerminating(pod)))
  assert.ok(dueAt !== undefined && dueAt < simulation.clock.now())
})

test('a pod in back-off is replaced at once when its template changes or a user deletes it', async () => {
  const watched = await watchedSet(failingSet)
  const { simulation } = watched
  for (const pod of pods(watched)) fail(watched, pod)
  await failEverything(watched)
  await failEverything(watched)
  const [first, second] = pods(watched)
  simulation.api.modify(resources.pods, first!.metadata.name, {
    metadata: { labels: { 'grove.io/pod-template-hash': 'another' } },
  })
  simulation.api.remove(resources.pods, second!)
  await simulation.reconcileOne('clique', web)
  const replaced = pods(watched).filter(pod => !isTerminating(pod) && !isFinished(pod))
  assert.deepEqual(
    replaced.map(pod => pod.spec?.hostname).sort(),
    [first, second].map(pod => pod!.spec?.hostname).sort(),
  )
  for (const pod of replaced)
    assert.equal(pod.metadata.annotations?.[annotation.consecutiveFailures], undefined)
})
