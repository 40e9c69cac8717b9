// SPDX-License-Identifier: Apache-2.0

// The indexes of a clique while its pods fail, are deleted or are created by other clients.
import assert from 'node:assert/strict'
import { defaultConfiguration, label, operatorName, type Pod } from '@grove/api'
import { defineResource, evictPod, type KubeObject, type Stored } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type Harness, isReady, waiterImage } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

const trio = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: trio}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 3
          minAvailable: 1
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
`
const web = 'trio-0-web'

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

const refOf = (harness: Harness, { metadata }: Stored<Pod>) => ({
  name: metadata.name,
  namespace: harness.namespace,
})
const isGoing = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined
const indexOf = ({ metadata }: Pod) => Number(metadata.labels?.[label.podIndex])
const uidsOf = (pods: readonly Stored<Pod>[]) => pods.map(({ metadata }) => metadata.uid).sort()

/**
 * Waits until the clique has this number of pods with distinct indexes. Ignores terminating pods and pods of other
 * owners.
 */
async function untilDistinct(
  harness: Harness,
  replicas: number,
  isThere: (pod: Pod) => boolean = isReady,
): Promise<Stored<Pod>[]> {
  const living = (pods: readonly Stored<Pod>[]) =>
    pods
      .filter(pod => pod.metadata.ownerReferences?.length && !isGoing(pod))
      .sort((a, b) => indexOf(a) - indexOf(b))
  return harness.until(
    `${replicas} pods of different indexes`,
    async () => living(await harness.pods('trio')),
    pods => pods.length === replicas && pods.every(isThere) && new Set(pods.map(indexOf)).size === replicas,
  )
}

/** Waits for the same, and for all indexes from zero on. */
async function untilInPlace(
  harness: Harness,
  replicas: number,
  isThere?: (pod: Pod) => boolean,
): Promise<Stored<Pod>[]> {
  const pods = await untilDistinct(harness, replicas, isThere)
  assert.deepEqual(
    pods.map(indexOf),
    pods.map((_, at) => at),
  )
  return pods
}

const untilCounted = (harness: Harness, replicas: number, ready = replicas) =>
  harness.until(
    `${replicas} pods to be counted`,
    () => harness.cliques('trio'),
    ([clique]) => clique?.status?.replicas === replicas && clique.status.readyReplicas === ready,
  )

const end = (harness: Harness, pod: Stored<Pod>, phase: 'Failed' | 'Succeeded') =>
  harness.client.patch(
    resources.pods,
    refOf(harness, pod),
    { merge: { status: { phase, reason: 'Evicted' } } },
    { subresource: 'status' },
  )

const taint = (harness: Harness, node: string, taints: object[]) =>
  harness.client.patch(nodes, { name: node }, { merge: { spec: { taints } } })

const losses: Record<string, (harness: Harness, pod: Stored<Pod>) => Promise<unknown>> = {
  'it is evicted': (harness, pod) => evictPod(harness.client, refOf(harness, pod)),
  'it fails': (harness, pod) => end(harness, pod, 'Failed'),
  'it succeeds': (harness, pod) => end(harness, pod, 'Succeeded'),
  'its node is deleted': (harness, { spec }) =>
    taint(harness, spec!.nodeName!, [{ key: 'example.com/broken', effect: 'NoExecute' }]),
}

export const podScenarios: Scenario[] = [
  {
    name: 'replaces a lost pod under the same index, for every cause of the loss, and touches no other pod',
    async run(harness) {
      await harness.apply(trio)
      let pods = await untilInPlace(harness, 3)
      for (const [what, lose] of Object.entries(losses)) {
        const victim = pods[1]!
        // Other pods on that node would be lost too.
        const alone = pods.filter(({ spec }) => spec?.nodeName === victim.spec?.nodeName).length === 1
        await lose(harness, victim)
        const after = await harness.until(
          `a replacement after ${what}`,
          () => untilInPlace(harness, 3),
          found => !uidsOf(found).includes(victim.metadata.uid),
        )
        if (alone) assert.deepEqual([after[0], after[2]].map(uid), [pods[0], pods[2]].map(uid), what)
        await taint(harness, victim.spec!.nodeName!, [])
        pods = after
      }
      await harness.until(
        'the lost pod to be deleted',
        () => harness.pods('trio'),
        left => left.length === 3,
      )
      await untilCounted(harness, 3)
    },
  },
  {
    name: 'ungated pods have no managedFields, and a client that applies to a pod owns the applied fields',
    async run(harness) {
      await harness.apply(trio)
      const [pod] = await untilInPlace(harness, 3)
      for (const { metadata } of await harness.pods('trio')) assert.equal(metadata.managedFields, undefined)
      const apply = (labels: Record<string, string>) =>
        harness.client.apply(
          resources.pods,
          { apiVersion: 'v1', kind: 'Pod', metadata: { ...refOf(harness, pod!), labels } } as Pod,
          { fieldManager: 'team', force: false },
        )
      const applied = await apply({ 'example.com/team': 'a', 'example.com/floor': '3' })
      const owners = (applied.metadata.managedFields ?? []) as { manager: string; operation: string }[]
      assert.ok(owners.some(({ manager, operation }) => manager === 'team' && operation === 'Apply'))
      const { labels } = (await apply({ 'example.com/team': 'a' })).metadata
      assert.deepEqual(labels, { ...pod!.metadata.labels, 'example.com/team': 'a' })
      assert.deepEqual(uidsOf(await untilInPlace(harness, 3)), uidsOf(await harness.pods('trio')))
    },
  },
  {
    name: 'immediately replaces a pod that cannot terminate, and does not count it, also after a restart of the operator',
    async run(harness) {
      // The pod is on no node, because a simulated kubelet does not wait for finalizers.
      await harness.apply(trio.replace('podSpec: {', 'podSpec: {nodeSelector: {example.com/room: none}, '))
      const waits = (pod: Pod) => !pod.spec?.schedulingGates?.length
      const [, victim] = await untilInPlace(harness, 3, waits)
      const hold = (finalizers: string[]) =>
        harness.client.patch(resources.pods, refOf(harness, victim!), { merge: { metadata: { finalizers } } })
      await hold(['example.com/hold'])
      await harness.deletePod(victim!.metadata.name)
      const after = await untilInPlace(harness, 3, waits)
      await untilCounted(harness, 3, 0)
      const stuck = (await harness.pods('trio')).filter(isGoing)
      assert.deepEqual(uidsOf(stuck), [victim!.metadata.uid])
      await harness.restartOperator()
      await harness.scale(resources.podCliques, web, 4)
      const more = await untilInPlace(harness, 4, waits)
      await untilCounted(harness, 4, 0)
      for (const uid of uidsOf(after)) assert.ok(uidsOf(more).includes(uid))
      await hold([])
      await harness.until(
        'the pod to be deleted',
        () => harness.pods('trio'),
        pods => pods.length === 4,
      )
      assert.deepEqual(uidsOf(await untilInPlace(harness, 4, waits)), uidsOf(more))
    },
  },
  {
    name: 'ignores pods with the labels of a clique that it does not control; replaces a released pod, and deletes one pod when it is returned',
    async run(harness) {
      await harness.apply(trio)
      const pods = await untilInPlace(harness, 3)
      const { labels } = pods[0]!.metadata
      const stranger = await harness.client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'stranger', namespace: harness.namespace, labels },
        spec: {
          containers: [{ name: 'main', image: 'registry.example/web:1' }],
          terminationGracePeriodSeconds: 0,
        },
      } as Pod)
      const relabel = (value: string | null) =>
        harness.client.patch(resources.pods, refOf(harness, pods[1]!), {
          merge: { metadata: { labels: { [label.managedBy]: value } } },
        })
      await relabel(null)
      const followed = await harness.until(
        'another pod of its index',
        () => harness.pods('trio'),
        all => all.filter(pod => indexOf(pod) === 1 && isReady(pod)).length === 2,
      )
      assert.equal(followed.length, 5)
      await untilCounted(harness, 3)
      await relabel(operatorName)
      await untilInPlace(harness, 3)
      const [gang] = await harness.until(
        'the gang to list three pods',
        () => harness.gangs('trio'),
        ([seen]) => seen?.spec.podgroups[0]?.podReferences.length === 3,
      )
      assert.ok(!gang!.spec.podgroups[0]!.podReferences.some(({ name }) => name === 'stranger'))
      await harness.scale(resources.podCliques, web, 1)
      await untilInPlace(harness, 1)
      const left = await harness.client.find(resources.pods, {
        name: 'stranger',
        namespace: harness.namespace,
      })
      assert.equal(left?.metadata.uid, stranger.metadata.uid)
      assert.equal(left?.metadata.deletionTimestamp, undefined)
    },
  },
  {
    name: 'two operators at the same time end with one pod for every index',
    async run(harness) {
      const second = await startOperator(harness.client, {
        configuration: defaultConfiguration(),
        waiterImage,
      })
      try {
        await harness.apply(trio)
        await untilInPlace(harness, 3)
        for (const replicas of [6, 2, 5]) {
          await harness.scale(resources.podCliques, web, replicas)
          // Scale-in deletes young pods first, whatever their index; new pods fill the holes.
          const pods = await untilDistinct(harness, replicas)
          await Promise.all(pods.slice(0, 2).map(pod => harness.deletePod(pod.metadata.name)))
          const after = await harness.until(
            'replacements of the pods',
            () => untilDistinct(harness, replicas),
            found => !uidsOf(pods.slice(0, 2)).some(gone => uidsOf(found).includes(gone)),
          )
          assert.deepEqual(after.slice(0, 2).map(indexOf), [0, 1])
        }
        await untilCounted(harness, 5)
      } finally {
        await second.stop()
      }
    },
  },
]

function uid(pod: Stored<Pod> | undefined): string | undefined {
  return pod?.metadata.uid
}
