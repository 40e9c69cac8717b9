// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { annotation, defaultConfiguration, managedLabels, type OwnerReference } from '@grove/api'
import { FakeClock, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { basePodGang } from '../layout/layout.ts'
import type { StoredGang } from '../layout/stored.ts'
import { Memory } from '../memory/memory.ts'
import type { OperatorContext } from '../operator-context.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { syncSchedulerObjects } from './scheduler-objects.ts'

const podGroups = resources.kaiPodGroups as unknown as Resource<KubeObject>
const name = 'w-0'
const namespace = 'serving'
const labels = managedLabels('w')

/** A gang of KAI, before its PodGroup is written. */
function harness() {
  const api = new SimulatedApi(new FakeClock(), { servesOptionalKinds: true })
  const sample = sampleSet({ cliques: [clique('a')] })
  const set = {
    ...sample,
    metadata: { ...sample.metadata, annotations: { [annotation.kaiQueue]: 'gpus' } },
  }
  const gang = api.put(resources.podGangs, {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name, namespace, labels },
    spec: { podgroups: [{ name: 'w-0-a', podReferences: [], minReplicas: 1 }] },
  } as never) as StoredGang
  const backends = schedulerBackends(['kai-scheduler'], 'kai-scheduler')
  const context = {
    caches: api.caches,
    configuration: defaultConfiguration(),
    memory: new Memory(api.caches, new FakeClock()),
    backends,
    events: { emit: () => undefined },
  } as unknown as OperatorContext
  return {
    api,
    gang,
    sync: (changed = gang) =>
      syncSchedulerObjects(
        { set, instance: basePodGang(set, 0), backend: backends.default },
        changed,
        context,
        new AbortController().signal,
      ),
    put: (metadata: object, spec: object = {}) =>
      api.put(podGroups, {
        apiVersion: 'scheduling.run.ai/v2alpha2',
        kind: 'PodGroup',
        metadata: { name, namespace, ...metadata },
        spec: { minMember: 7, ...spec },
      } as never),
    group: () =>
      api.get(podGroups, name) as
        | (KubeObject & { spec?: { minMember?: number; priorityClassName?: string; queue?: string } })
        | undefined,
  }
}

const controller = (kind: string, uid: string, called = name): OwnerReference => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind,
  name: called,
  uid,
  controller: true,
})

describe('a PodGroup under the name of a gang', () => {
  for (const [what, metadata] of Object.entries({
    'of another controller': { labels, ownerReferences: [controller('Job', 'theirs')] },
    'of a PodGang with another name': { labels, ownerReferences: [controller('PodGang', 'theirs', 'w-1')] },
    'without a controller and without the labels of the operator': { labels: { team: 'theirs' } },
    'without a controller and with labels of another set': { labels: managedLabels('v') },
  }))
    test(`is reported and not patched: ${what}`, async () => {
      const { api, sync, put, group } = harness()
      const before = put(metadata)
      await assert.rejects(sync(), {
        code: 'ERR_SET_CONTROLLER_REFERENCE',
        message: /PodGroup serving\/w-0 of .* exists and is not controlled by PodGang serving\/w-0/,
      })
      assert.deepEqual(group(), before)
      assert.equal(api.writes, 0)
    })

  for (const [what, metadata, others] of [
    ['without a controller, with the labels of the operator', { labels, ownerReferences: [] }, []],
    ['of a deleted gang of this name', { labels, ownerReferences: [controller('PodGang', 'former')] }, []],
    [
      'with another owner that does not control it',
      { labels, ownerReferences: [{ ...controller('Queue', 'q'), controller: false }] },
      ['q'],
    ],
  ] as const)
    test(`is adopted and updated: ${what}`, async () => {
      const { gang, sync, put, group } = harness()
      put(metadata)
      await sync()
      assert.deepEqual(
        group()?.metadata?.ownerReferences?.map(({ uid }) => uid),
        [...others, gang.metadata.uid],
      )
      assert.equal(group()?.spec?.minMember, 1)
    })

  test('of a deleted gang of this name does not keep the queue of that gang', async () => {
    const { gang, sync, put, group } = harness()
    const former = { 'kai.scheduler/queue': 'former' }
    put(
      { labels: { ...labels, ...former }, ownerReferences: [controller('PodGang', 'former')] },
      { queue: 'former' },
    )
    await sync({
      ...gang,
      metadata: { ...gang.metadata, labels: { ...labels, 'kai.scheduler/queue': 'gpus' } },
    })
    assert.equal(group()?.spec?.queue, 'gpus')
    assert.equal(group()?.metadata?.labels?.['kai.scheduler/queue'], 'gpus')
  })

  test('that is terminating is waited for', async () => {
    const { sync, put, group } = harness()
    const before = put({ labels, deletionTimestamp: '2030-01-01T00:00:00Z' })
    await assert.rejects(sync(), /still being deleted/)
    assert.deepEqual(group(), before)
  })

  test('is created with the gang as its controller, and then left alone', async () => {
    const { api, gang, sync, group } = harness()
    await sync()
    assert.deepEqual(
      group()?.metadata?.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
      [[gang.metadata.uid, true]],
    )
    await sync()
    assert.equal(api.writes, 1)
  })

  test('loses the priority class that its gang no longer has', async () => {
    const { gang, sync, group } = harness()
    await sync({ ...gang, spec: { ...gang.spec, priorityClassName: 'high' } })
    assert.equal(group()?.spec?.priorityClassName, 'high')
    await sync(gang)
    assert.equal(group()?.spec?.priorityClassName, undefined)
  })

  test('keeps the labels with which KAI assigns queue and node pool', async () => {
    const { gang, sync, put, group } = harness()
    const assigned = { 'kai.scheduler/queue': 'theirs', 'kai.scheduler/node-pool': 'pool-b' }
    put({ labels: { ...labels, ...assigned } })
    const ofSet = { 'kai.scheduler/queue': 'gpus', 'kai.scheduler/node-pool': 'pool-a' }
    await sync({ ...gang, metadata: { ...gang.metadata, labels: { ...labels, ...ofSet, team: 'search' } } })
    assert.deepEqual(group()?.metadata?.labels, { ...labels, ...assigned, team: 'search' })
  })
})
