// SPDX-License-Identifier: Apache-2.0

// Objects of users that carry the labels of a set. The operator deletes only objects that the set controls.
import assert from 'node:assert/strict'
import type { Pod, Service } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { untilNothingIsLeft } from './deletion.ts'
import { whole } from './manifests.ts'

const untyped = (resource: unknown) => resource as Resource<KubeObject>

const childrenOfWhole: readonly (readonly [Resource<KubeObject>, string])[] = [
  [untyped(resources.serviceAccounts), 'whole'],
  [untyped(resources.roles), 'grove.io:pcs:whole'],
  [untyped(resources.roleBindings), 'grove.io:pcs:whole'],
  [untyped(resources.services), 'whole-0'],
  [untyped(resources.autoscalers), 'whole-0-web'],
  [untyped(resources.podCliques), 'whole-0-web'],
  [untyped(resources.podCliqueScalingGroups), 'whole-0-eng'],
  [untyped(resources.podCliques), 'whole-0-eng-0-work'],
  [untyped(resources.podGangs), 'whole-0'],
]

interface Foreign {
  readonly resource: Resource<KubeObject>
  readonly object: Stored<KubeObject>
}

/**
 * The Service that `kubectl expose pod NAME --port=80 --name=SERVICE` creates: labels and selector are the labels of
 * the pod.
 */
async function expose(
  { client, namespace }: Harness,
  { metadata }: Stored<Pod>,
  name: string,
): Promise<Foreign> {
  const { labels = {} } = metadata
  const object = await client.create(resources.services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels },
    spec: { selector: labels, ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
  } as unknown as Service)
  return { resource: untyped(resources.services), object }
}

/** Copies the labels and the spec of an object, without its owner. */
async function copy(
  { client, namespace }: Harness,
  resource: Resource<KubeObject>,
  original: string,
  change: (spec: Record<string, unknown>) => unknown = spec => spec,
): Promise<Foreign> {
  const { apiVersion, kind, metadata, ...rest } = await client.get(resource, { namespace, name: original })
  const { spec } = rest as { spec: Record<string, unknown> }
  const object = await client.create(resource, {
    apiVersion,
    kind,
    metadata: { name: `copy-of-${original}`, namespace, labels: metadata.labels },
    spec: change(structuredClone(spec)),
  } as KubeObject)
  return { resource, object }
}

/** A pod that a user creates from the template of another one; every node can run it. */
function startable({ containers }: Record<string, unknown>): unknown {
  const [{ name, image }] = containers as [{ name: string; image: string }]
  return { containers: [{ name, image }] }
}

async function assertUntouched({ client, namespace }: Harness, all: readonly Foreign[]): Promise<void> {
  for (const { resource, object } of all) {
    const { name, uid } = object.metadata
    const now = await client.find(resource, { namespace, name })
    assert.equal(now?.metadata.uid, uid, `${resource.kind} ${name}`)
    assert.equal(now?.metadata.deletionTimestamp, undefined, `${resource.kind} ${name}`)
    assert.equal(now?.metadata.ownerReferences, undefined, `${resource.kind} ${name}`)
  }
}

const isOwn = ({ metadata }: KubeObject) =>
  metadata?.ownerReferences?.some(owner => owner.controller) ?? false

const untilOwnPods = (harness: Harness, count: number) =>
  harness.until(
    `${count} pods that the set controls`,
    async () => (await harness.pods('whole')).filter(isOwn),
    pods => pods.length === count,
  )

const podOf = async (harness: Harness, replica: number) => {
  const pods = await harness.pods('whole')
  return pods.find(({ metadata }) => metadata.name.startsWith(`whole-${replica}-web-`))!
}

export const ownershipScenarios: Scenario[] = [
  {
    name: 'a Service that kubectl expose created for a pod survives scale-in and deletion of the set',
    async run(harness) {
      await harness.apply(whole(2))
      await harness.untilReady('whole', 4)
      await harness.untilAvailable('whole', 2)
      const exposed = [await expose(harness, await podOf(harness, 1), 'public-1')]
      // The default name is the name of the pod.
      const pod = await podOf(harness, 0)
      exposed.push(await expose(harness, pod, pod.metadata.name))
      await harness.scale(resources.podCliqueSets, 'whole', 1)
      await harness.untilReady('whole', 2)
      await harness.untilAvailable('whole', 1)
      await harness.untilQuiet()
      await assertUntouched(harness, exposed)
      await harness.deleteSet('whole')
      await untilNothingIsLeft(
        harness,
        'whole',
        exposed.map(({ object }) => object.metadata.uid),
      )
      await assertUntouched(harness, exposed)
    },
  },
  {
    name: 'pods, cliques, groups, gangs, Services and autoscalers with copied labels survive scale-in and deletion of the set',
    async run(harness) {
      await harness.apply(whole(2))
      await harness.untilReady('whole', 4)
      await harness.untilAvailable('whole', 2)
      const pod = await podOf(harness, 1)
      const copies = [
        await copy(harness, untyped(resources.pods), pod.metadata.name, startable),
        await copy(harness, untyped(resources.podCliques), 'whole-1-web'),
        await copy(harness, untyped(resources.podCliques), 'whole-1-eng-0-work'),
        await copy(harness, untyped(resources.podCliqueScalingGroups), 'whole-1-eng'),
        await copy(harness, untyped(resources.podGangs), 'whole-1'),
        await copy(harness, untyped(resources.services), 'whole-1'),
        await copy(harness, untyped(resources.autoscalers), 'whole-1-web', spec => ({
          ...spec,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'theirs' },
        })),
      ]
      await harness.untilQuiet()
      await assertUntouched(harness, copies)
      await harness.scale(resources.podCliqueSets, 'whole', 1)
      await untilOwnPods(harness, 2)
      await harness.untilAvailable('whole', 1)
      await harness.untilQuiet()
      await assertUntouched(harness, copies)
      await harness.deleteSet('whole')
      await untilOwnPods(harness, 0)
      await untilNothingIsLeft(
        harness,
        'whole',
        copies.map(({ object }) => object.metadata.uid),
      )
      await assertUntouched(harness, copies)
    },
  },
  {
    name: 'a set adopts children whose owner references another client removes, one kind at a time, and nothing is left when it is deleted',
    async run(harness) {
      await harness.apply(whole())
      const before = await harness.untilReady('whole', 2)
      await harness.untilAvailable('whole', 1)
      for (const [resource, name] of childrenOfWhole) {
        await harness.untilQuiet()
        const ref = { name, namespace: harness.namespace }
        const [owner] = (await harness.client.get(resource, ref)).metadata.ownerReferences ?? []
        await harness.client.patch(resource, ref, { merge: { metadata: { ownerReferences: null } } })
        const adopted = await harness.until(
          `the owner of ${resource.kind} ${name}`,
          () => harness.client.get(resource, ref),
          ({ metadata }) => (metadata.ownerReferences ?? []).length > 0,
        )
        assert.deepEqual(adopted.metadata.ownerReferences, [owner])
      }
      const kept = await harness.untilReady('whole', 2)
      assert.deepEqual(
        kept.map(({ metadata }) => metadata.uid).sort(),
        before.map(({ metadata }) => metadata.uid).sort(),
      )
      await harness.deleteSet('whole')
      await untilNothingIsLeft(harness, 'whole')
    },
  },
  {
    name: 'a clique follows a count that changes together with the loss of its owner reference',
    async run(harness) {
      await harness.apply(whole())
      await harness.untilReady('whole', 2)
      await harness.untilAvailable('whole', 1)
      await harness.client.patch(
        resources.podCliques,
        { name: 'whole-0-web', namespace: harness.namespace },
        { merge: { metadata: { ownerReferences: null }, spec: { replicas: 3 } } },
      )
      await harness.untilReady('whole', 4)
    },
  },
]
