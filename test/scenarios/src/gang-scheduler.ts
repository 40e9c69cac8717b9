// SPDX-License-Identifier: Apache-2.0

// Runs the gang scheduler with PodGangs and pods that the test creates, because the scheduler needs nothing else. Every
// node has room for one pod, so nodes are slots. The same tests run on the embedded cluster and on a real one.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { label, type Pod, type PodGang, type PodSpec } from '@grove/api'
import {
  type Client,
  createCachedClient,
  defineResource,
  isKubeError,
  type KubeObject,
  type Stored,
} from '@grove/kube'
import { resources } from '@grove/operator'
import {
  defaultPolicy,
  type Policy,
  type RunningScheduler,
  schedulerResources,
  startScheduler,
} from '@grove/scheduler'
import { waitFor } from '@grove/test-kubernetes'

export interface GangCluster {
  readonly client: Client
  /** A client for the scheduler. */
  connect(): Client
  /** A new, empty namespace. */
  newNamespace(): Promise<string>
  /** Nodes with room for one pod each. */
  readonly nodeNames: readonly string[]
}

interface NodeSpec {
  readonly unschedulable?: boolean
  readonly taints?: readonly { readonly key: string }[]
}

export const nodes = defineResource<KubeObject & { readonly spec?: NodeSpec }>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

/**
 * Uncordons nodes, and waits until they have no taint any more: a controller of Kubernetes removes the taint of a
 * cordoned node some time later, from one node after the other.
 */
export async function uncordon(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names) await client.patch(nodes, { name }, { merge: { spec: { unschedulable: false } } })
  await waitFor('nodes without the taint of cordoned nodes', async () => {
    const { items } = await client.list(nodes, {})
    const added = items.filter(({ metadata }) => names.includes(metadata.name))
    return added.every(
      ({ spec }) => !spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/unschedulable'),
    )
  })
}

const priorityClasses = defineResource<KubeObject & { readonly value: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})

const budgets = defineResource<
  KubeObject & { readonly spec: object; readonly status?: { readonly observedGeneration?: number } }
>({
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
})

/** Priority classes of the tests, by name. */
const priorities = { 'gangs-low': 1, 'gangs-high': 1000 } as const
type Priority = keyof typeof priorities

interface Group {
  readonly name: string
  readonly replicas: number
  readonly min: number
}

export function gangSchedulerTests(title: string, cluster: () => GangCluster): void {
  describe(title, { concurrency: false }, () => {
    let client: Client
    let namespace = ''
    let scheduler: RunningScheduler | undefined

    beforeEach(async () => {
      client = cluster().client
      namespace = await cluster().newNamespace()
      free = 0
      for (const name of cluster().nodeNames) await setCordon(name, true)
      await start()
    })
    afterEach(async () => {
      await scheduler?.stop()
      for (const { metadata } of await pods())
        await client.delete(resources.pods, metadata, { gracePeriodSeconds: 0 }).catch(() => undefined)
      await waitFor('no pod left', async () => (await pods()).length === 0)
    })

    /** Statuses of PodGangs that the scheduler has sent. */
    let sent: { readonly gang: string; readonly status: unknown }[] = []
    let cycles = 0
    let planned: readonly string[] = []

    async function start(policy: Policy = defaultPolicy): Promise<void> {
      sent = []
      const connected = cluster().connect()
      const recording: Client = {
        ...createCachedClient(connected),
        patch: (resource, ref, patch, options) => {
          if (resource.kind === 'PodGang' && ref.namespace === namespace && 'merge' in patch)
            sent.push({ gang: ref.name, status: (patch.merge as Partial<PodGang>).status })
          return connected.patch(resource, ref, patch, options)
        },
      }
      scheduler = await startScheduler(recording, {
        policy,
        onDecision: ({ gangs }) => {
          cycles++
          planned = gangs.map(({ name }) => name)
        },
      })
    }

    async function setCordon(name: string, unschedulable: boolean): Promise<void> {
      await client.patch(nodes, { name }, { merge: { spec: { unschedulable } } })
    }

    let free = 0
    /** Uncordons this many further nodes. */
    async function addSlots(count: number): Promise<void> {
      await uncordon(client, cluster().nodeNames.slice(free, free + count))
      free += count
    }

    async function createGang(
      name: string,
      groups: readonly Group[],
      priorityClassName?: Priority,
    ): Promise<void> {
      const gang = await client.create(resources.podGangs, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name, namespace, labels: { [label.schedulerName]: 'grove-scheduler' } },
        spec: {
          podgroups: groups.map(group => ({ name: group.name, podReferences: [], minReplicas: group.min })),
          ...(priorityClassName && { priorityClassName }),
        },
      } as PodGang)
      for (const group of groups)
        for (let index = 0; index < group.replicas; index++)
          await createPod(name, group.name, index, priorityClassName)
      const initialized = {
        type: 'Initialized',
        status: 'True',
        reason: 'Test',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }
      await client.patch(
        resources.podGangs,
        { name, namespace },
        {
          merge: {
            metadata: { uid: gang.metadata.uid },
            status: { phase: 'Pending', conditions: [initialized] },
          },
        },
        { subresource: 'status' },
      )
    }

    async function createPod(
      gang: string,
      clique: string,
      index: number,
      priorityClassName?: Priority,
      volumes: PodSpec['volumes'] = [],
    ): Promise<void> {
      await client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `${clique}-${index}`,
          namespace,
          labels: {
            [label.podGang]: gang,
            [label.podClique]: clique,
            [label.podIndex]: String(index),
          },
        },
        spec: {
          schedulerName: 'grove-scheduler',
          ...(priorityClassName && { priorityClassName }),
          volumes,
          containers: [
            {
              name: 'main',
              image: 'registry.example/main:1',
              resources: { limits: { 'nvidia.com/gpu': '8' } },
            },
          ],
        },
      } as unknown as Pod)
    }

    const pods = async () => (await client.list(resources.pods, { namespace })).items
    const bound = async () =>
      (await pods())
        .filter(pod => pod.spec?.nodeName && !pod.metadata.deletionTimestamp)
        .map(({ metadata }) => metadata.name)
        .sort()
    const gang = (name: string): Promise<Stored<PodGang>> =>
      client.get(resources.podGangs, { name, namespace })
    const condition = async (name: string, type: string) =>
      (await gang(name)).status?.conditions?.find(one => one.type === type)

    async function untilBound(expected: readonly string[]): Promise<void> {
      await waitFor(`pods ${expected.join(', ')} on nodes`, async () => {
        const found = await bound()
        return JSON.stringify(found) === JSON.stringify([...expected].sort())
      })
    }
    async function untilCondition(name: string, type: string, value: string): Promise<void> {
      try {
        await waitFor(
          `${type}=${value} on PodGang ${name}`,
          async () => (await condition(name, type))?.status === value,
        )
      } catch (error) {
        const found = { status: (await gang(name)).status, pods: await pods(), cycles, planned, sent }
        throw new Error(`${(error as Error).message}: ${JSON.stringify(found)}`)
      }
    }

    const group = (name: string, replicas: number, min: number): Group => ({ name, replicas, min })

    test('binds no pod of a gang that does not fit, reports why, and binds all pods when it fits (G1)', async () => {
      await addSlots(9)
      await createGang('w-0', [group('w-0-a', 4, 4), group('w-0-b', 6, 6)])
      await untilCondition('w-0', 'Scheduled', 'False')
      await waitFor('a reason', async () => Boolean((await condition('w-0', 'Scheduled'))?.message))
      assert.deepEqual(await bound(), [])
      await addSlots(1)
      await waitFor('ten pods on nodes', async () => (await bound()).length === 10)
      await untilCondition('w-0', 'Scheduled', 'True')
      await untilCondition('w-0', 'Ready', 'True')
      assert.equal((await gang('w-0')).status?.phase, 'Running')
      assert.equal((await gang('w-0')).status?.placementScore, 1)
    })

    test('writes no status of a gang twice, and none that it has replaced within moments', async () => {
      await addSlots(2)
      await createGang('w-0', [group('w-0-a', 2, 2)])
      await untilCondition('w-0', 'Ready', 'True')
      const before = cycles
      await addSlots(1)
      await createGang('w-1', [group('w-1-a', 2, 2)])
      await waitFor('a reason', async () => Boolean((await condition('w-1', 'Scheduled'))?.message))
      await waitFor('more cycles', () => cycles > before)
      const all = sent.filter(one => one.gang === 'w-0').map(({ status }) => JSON.stringify(status))
      // Before the attempt the cause may change with every node: the taints of uncordoned nodes are removed later.
      const statuses = all.slice(all.findIndex(status => status.includes('"Binding"')))
      assert.equal(new Set(statuses).size, statuses.length, statuses.join('\n'))
      // The attempt, then the bound gang: with slow pods once before they are ready and once after.
      assert.ok(statuses.length <= 3, statuses.join('\n'))
    })

    test('writes no status of a gang that is terminating, and binds no pod of it', async () => {
      await createGang('w-0', [group('w-0-a', 2, 2)])
      await waitFor('a reason', async () => Boolean((await condition('w-0', 'Scheduled'))?.message))
      const ref = { name: 'w-0', namespace }
      await client.patch(resources.podGangs, ref, {
        merge: { metadata: { finalizers: ['example.com/keep'] } },
      })
      await client.delete(resources.podGangs, ref)
      // Later gangs do not wait for room that the terminating one would need.
      sent = []
      await createGang('w-1', [group('w-1-a', 2, 2)])
      await addSlots(2)
      await untilCondition('w-1', 'Scheduled', 'True')
      await client.patch(resources.podGangs, ref, { merge: { metadata: { finalizers: null } } })
      assert.deepEqual(await bound(), ['w-1-a-0', 'w-1-a-1'])
      assert.deepEqual(
        sent.filter(one => one.gang === 'w-0'),
        [],
      )
    })

    test('does not plan the gangs of another scheduler', async () => {
      const labels = { [label.schedulerName]: 'other-scheduler' }
      await client.create(resources.podGangs, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name: 'foreign', namespace, labels },
        spec: { podgroups: [{ name: 'foreign-a', podReferences: [], minReplicas: 1 }] },
      } as PodGang)
      await createGang('w-0', [group('w-0-a', 1, 1)])
      await untilCondition('w-0', 'Scheduled', 'False')
      assert.ok(planned.includes('w-0'))
      assert.ok(!planned.includes('foreign'))
    })

    test('binds the minimum first, then other gangs, then surplus (G3 to G5)', async () => {
      await addSlots(2)
      await createGang('w-0', [group('w-0-a', 2, 1), group('w-0-x-0-b', 1, 1), group('w-0-x-0-c', 3, 1)])
      await untilCondition('w-0', 'Scheduled', 'False')
      assert.deepEqual(await bound(), [])
      await addSlots(1)
      const base = ['w-0-a-0', 'w-0-x-0-b-0', 'w-0-x-0-c-0']
      await untilBound(base)
      // The operator removes the gates of a scaled gang only now.
      await createGang('w-0-x-0', [group('w-0-x-1-b', 1, 1), group('w-0-x-1-c', 3, 1)])
      await untilCondition('w-0-x-0', 'Scheduled', 'False')
      await addSlots(2)
      await untilBound([...base, 'w-0-x-1-b-0', 'w-0-x-1-c-0'])
      await addSlots(5)
      await waitFor('all ten pods on nodes', async () => (await bound()).length === 10)
    })

    test('says on surplus pods why they wait, while their gang stays scheduled', async () => {
      await addSlots(1)
      await createGang('w-0', [group('w-0-a', 2, 1)])
      await untilCondition('w-0', 'Scheduled', 'True')
      await waitFor('a reason on the surplus pod', async () => {
        const [waiting] = (await pods()).filter(pod => !pod.spec.nodeName)
        const condition = waiting?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
        return condition?.reason === 'Unschedulable' && Boolean(condition.message)
      })
      await untilCondition('w-0', 'Scheduled', 'True')
      await addSlots(1)
      await waitFor('both pods on nodes', async () => (await bound()).length === 2)
    })

    test('selects the node of an ephemeral volume for the pod that it binds', async () => {
      const { storageClasses, persistentVolumeClaims } = schedulerResources
      const storageClassName = `wait-${namespace}`
      await client.create(storageClasses, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: storageClassName },
        provisioner: 'example.com/none',
        volumeBindingMode: 'WaitForFirstConsumer',
      } as KubeObject)
      const spec = {
        accessModes: ['ReadWriteOnce' as const],
        storageClassName,
        resources: { requests: { storage: '1Gi' } },
      }
      // The embedded cluster has no controller for volumes.
      await client.create(persistentVolumeClaims, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'w-0-a-0-data', namespace },
        spec,
      } as KubeObject)
      await addSlots(2)
      await createGang('w-0', [{ name: 'w-0-a', replicas: 0, min: 1 }])
      await createPod('w-0', 'w-0-a', 0, undefined, [
        { name: 'data', ephemeral: { volumeClaimTemplate: { spec } } },
      ])
      await untilBound(['w-0-a-0'])
      const [pod] = await pods()
      const claim = await client.get(persistentVolumeClaims, { name: 'w-0-a-0-data', namespace })
      assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], pod?.spec.nodeName)
      await client.delete(storageClasses, { name: storageClassName })
    })

    test('two competing gangs are never bound in part', async () => {
      await addSlots(5)
      await createGang('first', [group('first-a', 4, 4)])
      await createGang('second', [group('second-a', 4, 4)])
      await untilCondition('first', 'Scheduled', 'True')
      await untilCondition('second', 'Scheduled', 'False')
      assert.deepEqual(
        (await bound()).map(name => name.split('-')[0]),
        ['first', 'first', 'first', 'first'],
      )
      for (const { metadata } of (await pods()).filter(({ metadata }) => metadata.name.startsWith('first')))
        await client.delete(resources.pods, metadata, { gracePeriodSeconds: 0 })
      await untilCondition('second', 'Scheduled', 'True')
    })

    test('completes a gang that a stopped scheduler left bound in part', async () => {
      await scheduler!.abandon()
      await createGang('w-0', [group('w-0-a', 3, 3)])
      await leaveInPart('w-0', 'w-0-a-0')
      await addSlots(3)
      await start()
      await untilCondition('w-0', 'Scheduled', 'True')
      assert.equal((await bound()).length, 3)
    })

    test('releases a gang that a stopped scheduler left bound in part if the rest does not fit', async () => {
      await scheduler!.abandon()
      await createGang('w-0', [group('w-0-a', 3, 3)])
      await leaveInPart('w-0', 'w-0-a-0')
      await start()
      await waitFor('the pod is deleted', async () => (await bound()).length === 0)
      await untilCondition('w-0', 'Scheduled', 'False')
    })

    /** Two gangs of low priority on four nodes, under a scheduler with preemption. */
    async function fillWithLowPriority(): Promise<readonly string[]> {
      await scheduler!.stop()
      for (const [name, value] of Object.entries(priorities)) {
        const wanted = {
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name },
          value,
        }
        await client.create(priorityClasses, wanted).catch(error => {
          if (!isKubeError(error, 'AlreadyExists')) throw error
        })
      }
      await start({ ...defaultPolicy, preemption: 'Enabled' })
      await addSlots(4)
      for (const name of ['first', 'second']) {
        await createGang(name, [group(`${name}-a`, 2, 2)], 'gangs-low')
        await untilCondition(name, 'Ready', 'True')
      }
      return bound()
    }

    test('a gang of higher priority evicts one whole gang, and no further pods', async () => {
      await fillWithLowPriority()
      await createGang('urgent', [group('urgent-a', 2, 2)], 'gangs-high')
      await untilCondition('urgent', 'Scheduled', 'True')
      const kept = (await bound()).filter(name => !name.startsWith('urgent'))
      const [survivor, victim] = kept[0]?.startsWith('first') ? ['first', 'second'] : ['second', 'first']
      assert.deepEqual(kept, [`${survivor}-a-0`, `${survivor}-a-1`])
      await untilCondition(victim, 'DisruptionTarget', 'True')
      assert.equal((await condition(survivor, 'DisruptionTarget'))?.status ?? 'False', 'False')
      assert.match((await condition(victim, 'DisruptionTarget'))?.message ?? '', /PodGang urgent/)
    })

    test('evicts no pod if this would not make the whole minimum fit', async () => {
      const running = await fillWithLowPriority()
      await createGang('urgent', [group('urgent-a', 5, 5)], 'gangs-high')
      await untilCondition('urgent', 'Scheduled', 'False')
      await waitFor('a reason', async () => Boolean((await condition('urgent', 'Scheduled'))?.message))
      assert.deepEqual(await bound(), running)
      await createGang('equal', [group('equal-a', 1, 1)], 'gangs-low')
      await untilCondition('equal', 'Scheduled', 'False')
      assert.deepEqual(await bound(), running, 'a gang of the same priority evicts no pod')
    })

    test('evicts no pod of a gang if PodDisruptionBudgets do not allow to evict the whole gang', async () => {
      const running = await fillWithLowPriority()
      const metadata = { name: 'all', namespace }
      await client.create(budgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata,
        // One eviction is allowed, and both gangs have two pods.
        spec: { maxUnavailable: 1, selector: {} },
      })
      // The API server rejects all evictions until the controller has read the budget, and then allows one.
      await waitFor('the budget counts pods', async () =>
        Boolean((await client.get(budgets, metadata)).status?.observedGeneration),
      )
      await createGang('urgent', [group('urgent-a', 2, 2)], 'gangs-high')
      await untilCondition('urgent', 'Scheduled', 'False')
      await waitFor('a reason', async () => Boolean((await condition('urgent', 'Scheduled'))?.message))
      assert.deepEqual(await bound(), running)
      await client.delete(budgets, metadata)
      await untilCondition('urgent', 'Scheduled', 'True')
      assert.equal((await bound()).length, 4)
    })

    /**
     * The state that a scheduler leaves if it stops after its first binding. The pod is bound to a node that never runs
     * it.
     */
    async function leaveInPart(name: string, pod: string): Promise<void> {
      const binding = {
        type: 'Scheduled',
        status: 'False',
        reason: 'Binding',
        message: '',
        lastTransitionTime: new Date().toISOString(),
      }
      const conditions = [...((await gang(name)).status?.conditions ?? []), binding]
      await client.patch(
        resources.podGangs,
        { name, namespace },
        { merge: { status: { phase: 'Starting', conditions } } },
        { subresource: 'status' },
      )
      await client.raw({
        verb: 'create',
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods/${pod}/binding`,
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: pod, namespace },
          target: { kind: 'Node', name: 'not-there' },
        },
      })
    }
  })
}
