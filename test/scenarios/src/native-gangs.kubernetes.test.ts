// SPDX-License-Identifier: Apache-2.0

// Native gangs: the operator writes Workloads, CompositePodGroups and PodGroups, and the stock kube-scheduler
// schedules the pods. Every node has room for one pod, so nodes are slots.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { defaultConfiguration, label, type Pod } from '@grove/api'
import { type Client, defineResource, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { nativeGangKinds, resources } from '@grove/operator'
import { type Kubernetes, nativeGangs, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { installCustomResources } from './custom-kinds.ts'
import { nodes } from './gang-scheduler.ts'
import { Harness, type WriteCount, writeCounter } from './harness.ts'

const nodeCount = 10
const rackKey = 'native.example/rack'
const topology = 'native'

const configuration = {
  ...defaultConfiguration(),
  scheduler: {
    profiles: [{ name: 'kubernetes' }, { name: 'default-scheduler' }],
    defaultProfileName: 'kubernetes',
  },
  topologyAwareScheduling: { enabled: true },
}

const clique = (name: string, replicas: number, min = replicas) => `
      - name: ${name}
        spec:
          roleName: ${name}
          replicas: ${replicas}
          minAvailable: ${min}
          podSpec:
            containers:
              - {name: main, image: 'registry.example/main:1', resources: {limits: {nvidia.com/gpu: 8}}}`

const manifestOf = (cliques: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w}
spec:
  replicas: 1
  template:
    cliques:${cliques}
`

const manifest = (constraint = '') => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w}
spec:
  replicas: 1
  template:
    cliques:${clique('a', 2, 1)}${clique('b', 1)}${clique('c', 2)}
    podCliqueScalingGroups:
      - {name: x, cliqueNames: [b, c], replicas: 1, minAvailable: 1${constraint}}
`

describe('native gangs on real Kubernetes', { concurrency: false }, () => {
  let kubernetes: Kubernetes
  let client: Client
  let operatorClient: Client
  let harness: Harness
  let nodeNames: string[]
  let free = 0
  let writes: WriteCount[] = []

  before(async () => {
    kubernetes = await startKubernetes({ nodes: nodeCount, gpus: 8, ...nativeGangs })
    client = adminClient(kubernetes)
    await installCustomResources(client)
    nodeNames = (await client.list(nodes)).items.map(({ metadata }) => metadata.name).sort()
    for (const [at, name] of nodeNames.entries())
      await client.patch(
        nodes,
        { name },
        { merge: { metadata: { labels: { [rackKey]: at < 4 ? 'small' : 'large' } } } },
      )
    await client.create(resources.clusterTopologyBindings, {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'ClusterTopologyBinding',
      metadata: { name: topology },
      spec: { levels: [{ domain: 'rack', key: rackKey }] },
    })
  })
  after(async () => {
    await client?.close()
    await kubernetes?.stop()
  })
  beforeEach(async () => {
    const namespace = await kubernetes.newNamespace('native')
    writes = []
    operatorClient = adminClient(kubernetes, { onRequest: writeCounter(writes, namespace) })
    harness = new Harness({ client, operatorClient, namespace, writes, configuration })
    for (const name of nodeNames) await setCordon(name, true)
    free = 0
    await harness.startOperator()
  })
  afterEach(async () => {
    try {
      await harness.cleanUp('w')
    } finally {
      await operatorClient.close()
    }
  })

  const setCordon = (name: string, unschedulable: boolean) =>
    client.patch(nodes, { name }, { merge: { spec: { unschedulable } } })
  async function addSlots(count: number): Promise<void> {
    for (const name of nodeNames.slice(free, free + count)) await setCordon(name, false)
    free += count
  }
  const bound = (pods: readonly Stored<Pod>[]) => pods.filter(({ spec }) => spec.nodeName)
  const list = async (resource: Resource<KubeObject>) =>
    (await client.list(resource, { namespace: harness.namespace })).items as Stored<
      KubeObject & { readonly spec: Readonly<Record<string, unknown>> }
    >[]
  const namesOf = async (resource: Resource<KubeObject>) =>
    (await list(resource)).map(({ metadata }) => metadata.name).sort()
  const [workloads, composites, podGroups] = nativeGangKinds
  /** Waits until kube-scheduler has reported a result for every pod. */
  const untilTried = () =>
    harness.until(
      'kube-scheduler to report that the pods do not fit',
      () => harness.pods('w'),
      pods =>
        pods.length > 0 &&
        pods.some(({ status }) =>
          status?.conditions?.some(
            ({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable',
          ),
        ),
    )

  const untilBound = (count: number) =>
    harness.until(
      `${count} pods on nodes`,
      async () => bound(await harness.pods('w')),
      found => found.length === count,
    )

  test('a gang that does not fit waits as a whole, and is scheduled when it fits', async () => {
    await addSlots(3)
    await harness.apply(manifest())
    await harness.until(
      'five pods without a gate',
      () => harness.pods('w'),
      pods => pods.length === 5 && pods.every(({ spec }) => !spec.schedulingGates?.length),
    )
    await untilTried()
    const pods = await harness.pods('w')
    assert.deepEqual(bound(pods), [])
    for (const { metadata, spec } of pods) {
      assert.equal(spec.schedulerName, 'default-scheduler')
      assert.deepEqual(spec.schedulingGroup, { podGroupName: metadata.labels?.[label.podClique] })
    }
    assert.deepEqual(await namesOf(workloads), ['w-0'])
    assert.deepEqual(await namesOf(composites), ['w-0'])
    assert.deepEqual(await namesOf(podGroups), ['w-0-a', 'w-0-x-0-b', 'w-0-x-0-c'])
    const group = (await list(podGroups)).find(({ metadata }) => metadata.name === 'w-0-x-0-c')!
    assert.deepEqual(group.spec.schedulingPolicy, { gang: { minCount: 2 } })
    assert.equal(group.spec.parentCompositePodGroupName, 'w-0')
    assert.deepEqual(group.spec.workloadRef, { workloadName: 'w-0', templateName: 'c-c' })

    await addSlots(2)
    await harness.untilReady('w', 5)
    await harness.untilAvailable('w', 1)
  })

  test('a gang of one clique starts with its minimum', async () => {
    await addSlots(2)
    await harness.apply(manifestOf(clique('a', 3, 2)))
    await untilBound(2)
    await addSlots(1)
    await harness.untilReady('w', 3)
  })

  test('kube-scheduler gives the room of a later clique to the surplus of an earlier one, and then binds no pod', async () => {
    await addSlots(2)
    await harness.apply(manifestOf(clique('a', 2, 1) + clique('b', 1)))
    await untilTried()
    assert.deepEqual(bound(await harness.pods('w')), [])
    await addSlots(1)
    await harness.untilReady('w', 3)
  })

  test('a gang of two cliques starts with its minimum if only the later one has surplus', async () => {
    await addSlots(2)
    await harness.apply(manifestOf(clique('a', 1) + clique('b', 2, 1)))
    await untilBound(2)
    await addSlots(1)
    await harness.untilReady('w', 3)
  })

  test('scaling adds and removes groups, an update keeps them, and deletion removes all', async () => {
    await addSlots(10)
    await harness.apply(manifest())
    await harness.untilReady('w', 5)
    await harness.scale(resources.podCliqueScalingGroups, 'w-0-x', 2)
    await harness.untilReady('w', 8)
    assert.deepEqual(await namesOf(composites), ['w-0', 'w-0-x-0'])
    assert.equal((await namesOf(podGroups)).length, 5)
    const before = new Map((await list(podGroups)).map(({ metadata }) => [metadata.name, metadata.uid]))
    await harness.edit('w', set => {
      for (const one of set.spec.template.cliques)
        one.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
    })
    await harness.until(
      'all pods to be updated',
      () => harness.pods('w'),
      pods => pods.length === 8 && pods.every(({ spec }) => spec.containers[0]?.image?.endsWith(':2')),
    )
    await harness.untilReady('w', 8)
    assert.deepEqual(
      new Map((await list(podGroups)).map(({ metadata }) => [metadata.name, metadata.uid])),
      before,
    )
    assert.deepEqual(await harness.writesOfAnotherReconcile('w'), [])
    await harness.scale(resources.podCliqueScalingGroups, 'w-0-x', 1)
    await harness.untilReady('w', 5)
    await harness.until(
      'the groups of the removed replica to be deleted',
      () => namesOf(podGroups),
      names => names.length === 3,
    )
    await harness.deleteSet('w')
    for (const kind of nativeGangKinds)
      await harness.until(
        `no ${kind.kind}`,
        () => namesOf(kind),
        names => names.length === 0,
      )
  })

  test('a deleted Workload is recreated', async () => {
    await addSlots(10)
    await harness.apply(manifest())
    await harness.untilReady('w', 5)
    const [group] = await list(podGroups)
    await client.delete(workloads, { name: 'w-0', namespace: harness.namespace })
    await harness.until(
      'the Workload to be recreated',
      () => list(workloads),
      ([found]) => found !== undefined,
    )
    assert.equal((await list(podGroups))[0]?.metadata.uid, group?.metadata.uid)
  })

  test('a scaling group with a required level is scheduled in one domain', async () => {
    await addSlots(10)
    const constraint = `, topologyConstraint: {topologyName: ${topology}, pack: {required: rack}}`
    await harness.apply(manifest(constraint))
    const pods = await harness.untilReady('w', 5)
    assert.deepEqual(await namesOf(composites), ['w-0', 'w-0.w-0-x-0'])
    const racks = pods
      .filter(({ metadata }) => metadata.labels?.[label.podClique]?.startsWith('w-0-x-0'))
      .map(({ spec }) => (nodeNames.indexOf(spec.nodeName!) < 4 ? 'small' : 'large'))
    assert.equal(new Set(racks).size, 1, racks.join())
  })

  test('a priority class that a set gets later does not change its groups, and is no error', async () => {
    await addSlots(10)
    const priorities = defineResource<KubeObject>({
      group: 'scheduling.k8s.io',
      version: 'v1',
      resource: 'priorityclasses',
      kind: 'PriorityClass',
      namespaced: false,
    })
    const priorityClassName = `high-${harness.namespace}`
    await client.create(priorities, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: priorityClassName },
      value: 7,
    } as KubeObject)
    await harness.apply(manifest())
    await harness.untilReady('w', 5)
    const before = await list(podGroups)
    await harness.edit('w', ({ spec }) => {
      spec.template.priorityClassName = priorityClassName
    })
    await harness.until(
      'the update to end, and the gang to have the priority class',
      async () => ({ status: (await harness.set('w'))?.status, gangs: await harness.gangs('w') }),
      ({ status, gangs }) =>
        status?.updateProgress?.updateEndedAt !== undefined &&
        gangs.every(({ spec }) => spec.priorityClassName === priorityClassName),
    )
    await harness.untilReady('w', 5)
    await harness.untilAvailable('w', 1)
    await harness.untilQuiet()
    assert.deepEqual((await harness.set('w'))?.status?.lastErrors ?? [], [])
    assert.deepEqual(
      (await list(podGroups)).map(({ spec }) => spec),
      before.map(({ spec }) => spec),
    )
  })

  test('admission rejects a preferred level, which kube-scheduler does not know', async () => {
    const constraint = `, topologyConstraint: {topologyName: ${topology}, pack: {preferred: rack}}`
    await assert.rejects(harness.apply(manifest(constraint)), {
      message:
        /scheduler "kubernetes" supports required topology levels only; remove the preferred level "rack"/,
    })
  })
})
