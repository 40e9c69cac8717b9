// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodGang } from '@grove/api'
import { captureLog, createRegistry, FakeClock, KubeError, type Registry, type Stored } from '@grove/kube'
import { setErrors } from '../errors/catalogue.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import { decisionSink, loggedEvents } from './decisions.ts'
import { reconcileErrors } from './observers.ts'
import { observeStartups } from './startup-times.ts'
import { observeStates } from './state-gauges.ts'
import { observedCaches, observedPod, observedSet } from './testing/observed-caches.ts'
import { observeUpdates } from './updates.ts'

const start = Date.UTC(2030, 0, 1)

/** The values of a metric by its labels, without those that are zero. */
async function valuesOf(registry: Registry, name: string): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter(line => new RegExp(`^${name}[ {]`).test(line))
  return Object.fromEntries(
    lines
      .map(line => {
        const [, labels = '', value] = /^\w+(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
        return [labels.replaceAll(/\w+="([^"]*)"/g, '$1'), Number(value)] as const
      })
      .filter(([, value]) => value !== 0),
  )
}

describe('gauges of states', () => {
  function observed() {
    const registry = createRegistry()
    const clock = new FakeClock(start)
    const all = observedCaches()
    observeStates(registry, all.caches, clock)
    return { registry, clock, ...all }
  }

  test('count each set once', async () => {
    const { registry, sets } = observed()
    const updating = { updateProgress: { updateStartedAt: '2030-01-01T00:00:00Z' } }
    const failing = { lastErrors: [{ code: 'ERR_CREATE_POD', description: '', observedAt: '' }] }
    sets.put(observedSet({ name: 'a', status: { availableReplicas: 1 } }))
    sets.put(observedSet({ name: 'b', status: { availableReplicas: 0 } }))
    sets.put(observedSet({ name: 'c', status: { availableReplicas: 1, ...updating } }))
    sets.put(observedSet({ name: 'd', status: { availableReplicas: 1, ...updating, ...failing } }))
    sets.put(observedSet({ name: 'e', deletionTimestamp: '2030-01-01T00:00:00Z', status: failing }))
    assert.deepEqual(await valuesOf(registry, 'grove_podcliquesets'), {
      available: 1,
      unavailable: 1,
      updating: 1,
      failing: 1,
      terminating: 1,
    })
    assert.deepEqual(await valuesOf(registry, 'grove_podcliqueset_replicas'), { desired: 5, available: 3 })
  })

  test('count each pod once', async () => {
    const { registry, pods } = observed()
    const progresses = ['gated', 'pending', 'starting', 'ready', 'failed', 'terminating'] as const
    progresses.forEach((progress, index) => {
      for (let pod = 0; pod <= index; pod++) pods.put(observedPod(`${progress}-${pod}`, progress))
    })
    assert.deepEqual(await valuesOf(registry, 'grove_pods'), {
      gated: 1,
      pending: 2,
      starting: 3,
      ready: 4,
      finished: 5,
      terminating: 6,
    })
  })

  test('count gangs and the age of the oldest pending one', async () => {
    const { registry, clock, gangs } = observed()
    gangs.put(gang('running', 'Running'))
    gangs.put(gang('old', 'Pending'))
    gangs.put(gang('new', 'Pending', '2030-01-01T00:00:50Z'))
    gangs.put(gang('unhealthy', 'Running', undefined, 'Unhealthy'))
    gangs.put({ ...gang('incomplete', 'Pending'), status: { phase: 'Pending' } } as Stored<PodGang>)
    await clock.advance(60_000)
    assert.deepEqual(await valuesOf(registry, 'grove_podgangs'), {
      incomplete: 1,
      pending: 2,
      running: 1,
      unhealthy: 1,
    })
    assert.deepEqual(await valuesOf(registry, 'grove_podgangs_oldest_pending_seconds'), { '': 60 })
  })

  test('count updates, their replicas, and the age of the oldest update that is not held back', async () => {
    const { registry, clock, sets } = observed()
    const update = (name: string, updateStartedAt: string, reason?: string) =>
      sets.put(
        observedSet({
          name,
          replicas: 4,
          status: {
            availableReplicas: 4,
            updatedReplicas: 1,
            updateProgress: { updateStartedAt },
            ...(reason && {
              conditions: [{ type: 'UpdateProgressing', status: 'False', reason, message: '' }],
            }),
          },
        }),
      )
    update('a', '2030-01-01T00:00:40Z')
    update('b', '2030-01-01T00:00:20Z', 'ProgressDeadlineExceeded')
    update('c', '2030-01-01T00:00:00Z', 'Paused')
    update('d', '2030-01-01T00:00:00Z', 'Partitioned')
    await clock.advance(60_000)
    assert.deepEqual(await valuesOf(registry, 'grove_updates'), {
      progressing: 1,
      paused: 1,
      partitioned: 1,
      deadline_exceeded: 1,
    })
    assert.deepEqual(await valuesOf(registry, 'grove_update_replicas'), { updated: 4, outdated: 12 })
    assert.deepEqual(await valuesOf(registry, 'grove_updates_oldest_seconds'), { '': 40 })
  })

  function gang(name: string, phase: string, since = '2030-01-01T00:00:00Z', ...conditions: string[]) {
    return {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, namespace: 'default', uid: name, resourceVersion: '1' },
      spec: { podgroups: [] },
      status: {
        phase,
        conditions: ['Initialized', ...conditions].map(type => ({
          type,
          status: 'True',
          reason: 'R',
          message: '',
          lastTransitionTime: since,
        })),
      },
    } as unknown as Stored<PodGang>
  }
})

describe('startup times', () => {
  const count = 'grove_podcliqueset_startup_seconds_count'
  const sum = 'grove_podcliqueset_startup_seconds_sum'

  function observed() {
    const registry = createRegistry()
    const clock = new FakeClock(start)
    const all = observedCaches()
    observeStartups(registry, all.caches, clock)
    return { registry, clock, ...all }
  }

  test('are observed once, when the last pod reaches each milestone', async () => {
    const { registry, clock, sets, pods } = observed()
    sets.put(observedSet({ pods: 2 }))
    for (const progress of ['gated', 'starting', 'ready'] as const)
      for (const pod of ['one', 'two']) {
        await clock.advance(1_000)
        pods.put(observedPod(pod, progress))
      }
    assert.deepEqual(await valuesOf(registry, sum), {
      'created,1-9': 2,
      'scheduled,1-9': 4,
      'ready,1-9': 6,
    })
    pods.delete(observedPod('one', 'ready'))
    pods.put(observedPod('three', 'ready'))
    assert.deepEqual(await valuesOf(registry, count), {
      'created,1-9': 1,
      'scheduled,1-9': 1,
      'ready,1-9': 1,
    })
  })

  test('do not count a pod that was lost meanwhile', async () => {
    const { registry, sets, pods } = observed()
    sets.put(observedSet({ pods: 2 }))
    pods.put(observedPod('one', 'ready'))
    pods.delete(observedPod('one', 'ready'))
    pods.put(observedPod('two', 'ready'))
    assert.deepEqual(await valuesOf(registry, count), {})
    pods.put(observedPod('three', 'starting'))
    assert.deepEqual(await valuesOf(registry, count), { 'created,1-9': 1, 'scheduled,1-9': 1 })
  })

  test('follow a change of the replica count', async () => {
    const { registry, sets, pods } = observed()
    sets.put(observedSet({ pods: 20 }))
    for (let pod = 0; pod < 10; pod++) pods.put(observedPod(`pod-${pod}`, 'ready'))
    assert.deepEqual(await valuesOf(registry, count), {})
    sets.put(observedSet({ pods: 10 }))
    assert.deepEqual(await valuesOf(registry, count), {
      'created,10-99': 1,
      'scheduled,10-99': 1,
      'ready,10-99': 1,
    })
  })

  test('ignore sets that were created before the operator led, and pods of other sets', async () => {
    const { registry, sets, pods } = observed()
    sets.put(observedSet({ pods: 1, createdAt: '2029-12-31T23:59:59Z' }))
    pods.put(observedPod('one', 'ready'))
    pods.put(observedPod('two', 'ready', 'another'))
    assert.deepEqual(await valuesOf(registry, count), {})
  })
})

describe('updates', () => {
  test('are counted and logged once, with their duration', async () => {
    const registry = createRegistry()
    const { log, lines } = captureLog()
    const { sets, caches } = observedCaches()
    observeUpdates(registry, caches, log)
    const at = (updateProgress: object, more = {}) =>
      sets.put(observedSet({ status: { updateProgress, ...more } }))
    sets.put(observedSet())
    at({ updateStartedAt: '2030-01-01T00:00:00Z' })
    at({ updateStartedAt: '2030-01-01T00:00:00Z' }, { updatedReplicas: 1 })
    at({ updateStartedAt: '2030-01-01T00:00:00Z', updateEndedAt: '2030-01-01T00:01:30Z' })
    at({ updateStartedAt: '2030-01-01T00:00:00Z', updateEndedAt: '2030-01-01T00:01:30Z' }, { replicas: 1 })
    assert.deepEqual(await valuesOf(registry, 'grove_updates_started_total'), { '': 1 })
    assert.deepEqual(await valuesOf(registry, 'grove_update_duration_seconds_sum'), { '1-9': 90 })
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields.name, fields.seconds]),
      [
        ['Update started', 'llm', undefined],
        ['Update finished', 'llm', 90],
      ],
    )
  })

  test('that were running at the start are not counted as started', async () => {
    const registry = createRegistry()
    const { sets, caches } = observedCaches()
    sets.put(observedSet({ status: { updateProgress: { updateStartedAt: '2030-01-01T00:00:00Z' } } }))
    observeUpdates(registry, caches, captureLog().log)
    assert.deepEqual(await valuesOf(registry, 'grove_updates_started_total'), {})
  })
})

describe('decisions', () => {
  const set = observedSet() as never

  test('count and log terminated replicas with the reason', async () => {
    const registry = createRegistry()
    const { log, lines } = captureLog()
    const sink = decisionSink(log, registry)
    const because = 'PodClique llm-0-worker: Scheduled replicas (1) below MinAvailable (2)'
    const reason = 'ScheduledReplicasBelowMinAvailable'
    sink.replicaTerminated({ set, replica: 0, reason, because })
    sink.replicaTerminated({ set, scalingGroup: 'llm-0-decode', replica: 2, reason, because })
    assert.deepEqual(await valuesOf(registry, 'grove_gang_terminations_total'), {
      [`PodCliqueSet,${reason}`]: 1,
      [`PodCliqueScalingGroup,${reason}`]: 1,
    })
    assert.deepEqual(
      lines.map(({ message, fields }) => [
        message,
        fields.name,
        fields.scalingGroup,
        fields.replica,
        fields.because,
      ]),
      [
        ['Gang termination deleted a replica', 'llm', undefined, 0, because],
        ['Gang termination deleted a replica', 'llm', 'llm-0-decode', 2, because],
      ],
    )
  })

  test('have a series for every reason of a termination before the first one', async () => {
    const registry = createRegistry()
    decisionSink(captureLog().log, registry)
    const series = (await registry.metrics()).split('\n').filter(line => /^grove_gang_term/.test(line))
    assert.deepEqual(series.sort(), [
      'grove_gang_terminations_total{scope="PodCliqueScalingGroup",reason="InsufficientReadyPods"} 0',
      'grove_gang_terminations_total{scope="PodCliqueScalingGroup",reason="ScheduledReplicasBelowMinAvailable"} 0',
      'grove_gang_terminations_total{scope="PodCliqueSet",reason="InsufficientAvailablePodCliqueScalingGroupReplicas"} 0',
      'grove_gang_terminations_total{scope="PodCliqueSet",reason="InsufficientReadyPods"} 0',
      'grove_gang_terminations_total{scope="PodCliqueSet",reason="ScheduledReplicasBelowMinAvailable"} 0',
    ])
  })

  test('list a bounded number of replaced pods in one log line', async () => {
    const registry = createRegistry()
    const { log, lines } = captureLog()
    const pods = Array.from({ length: 500 }, (_, index) => observedPod(`pod-${index}`, 'failed'))
    decisionSink(log, registry).podsReplaced(set, pods as never, 'finished')
    decisionSink(log, registry).podsReplaced(set, [], 'outdated')
    assert.deepEqual(await valuesOf(registry, 'grove_pod_replacements_total'), { finished: 500 })
    assert.equal(lines.length, 1)
    assert.equal(lines[0]!.fields.count, 500)
    assert.equal((lines[0]!.fields.pods as string[]).length, 10)
  })

  test('log events about limits at info, and events of single pods at debug', () => {
    const { log, lines } = captureLog()
    const sink = loggedEvents({ emit: () => {} }, log)
    sink.emit(set, 'podcliqueset-controller', {
      type: 'Warning',
      reason: 'ReplicaLimitExceeded',
      message: 'too many',
    })
    sink.emit(set, 'podclique-controller', {
      type: 'Normal',
      reason: 'PodCreateSuccessful',
      message: 'Created',
    })
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [
        ['info', 'too many'],
        ['debug', 'Created'],
      ],
    )
  })
})

test('counts failed reconciles by code, each code once', async () => {
  const registry = createRegistry()
  const count = reconcileErrors(registry, 'podcliqueset')
  const conflict = new KubeError({ code: 'Conflict', message: 'changed' })
  count(conflict)
  count(
    new ReconcileFailed([
      setErrors.terminateReplica(0)(conflict),
      setErrors.terminateReplica(1)(conflict),
      new TypeError('x'),
    ]),
  )
  const values = await valuesOf(registry, 'grove_reconcile_errors_total')
  const code = setErrors.terminateReplica(0)().code
  assert.deepEqual(values, {
    'podcliqueset,Conflict': 1,
    [`podcliqueset,${code}`]: 1,
    'podcliqueset,Unknown': 1,
  })
})
