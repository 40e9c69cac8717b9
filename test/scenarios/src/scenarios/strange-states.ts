// SPDX-License-Identifier: Apache-2.0

// Invalid states that occur when clients bypass admission or delete objects at the wrong time.
import assert from 'node:assert/strict'
import type { PodCliqueSet } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { parse } from 'yaml'
import { namespaces } from '../embedded-cluster.ts'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

interface Foreign {
  readonly resource: Resource<KubeObject>
  readonly name: string
  readonly content?: object
}

const untyped = (resource: unknown) => resource as Resource<KubeObject>
const podSpec = { containers: [{ name: 'theirs', image: 'registry.example/theirs:1' }] }
const clique = { spec: { roleName: 'theirs', replicas: 0, podSpec } }
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'theirs' }

/** Objects of other owners with names that a set needs, in the order in which the set needs them. */
const foreignByHarness: readonly (readonly Foreign[])[] = [
  [
    { resource: untyped(resources.serviceAccounts), name: 'grouped' },
    {
      resource: untyped(resources.services),
      name: 'grouped-0',
      content: { spec: { clusterIP: 'None', ports: [{ port: 80 }] } },
    },
  ],
  [
    {
      resource: untyped(resources.roleBindings),
      name: 'grove.io:pcs:grouped',
      content: {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'grove.io:pcs:grouped' },
      },
    },
    { resource: untyped(resources.podCliques), name: 'grouped-0-router', content: clique },
  ],
  [
    {
      resource: untyped(resources.podCliqueScalingGroups),
      name: 'grouped-0-eng',
      content: { spec: { replicas: 0, cliqueNames: ['theirs'] } },
    },
  ],
  [
    {
      resource: untyped(resources.autoscalers),
      name: 'grouped-0-router',
      content: { spec: { maxReplicas: 2, scaleTargetRef: target } },
    },
  ],
]

async function plant(harness: Harness, { resource, name, content }: Foreign): Promise<Stored<KubeObject>> {
  const { group, version, kind } = resource
  return harness.client.create(resource, {
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    metadata: { name, namespace: harness.namespace },
    ...content,
  } as KubeObject)
}

const errorsOf = async (harness: Harness, set: string) => (await harness.set(set))?.status?.lastErrors ?? []

/** Stores a set without admission. */
async function store(harness: Harness, manifest: string, namespace = harness.namespace): Promise<void> {
  const set = parse(manifest) as PodCliqueSet
  set.metadata.namespace = namespace
  await harness.client.create(resources.podCliqueSets, set)
}

export const takenNames: Scenario = {
  name: 'reports every object that has a name which a set needs, leaves it alone, and creates its own when it is deleted',
  async run(harness) {
    const planted = new Map<Foreign, string>()
    for (const foreign of foreignByHarness.flat())
      planted.set(foreign, (await plant(harness, foreign)).metadata.uid)
    await harness.apply(
      grouped.replace(
        'minAvailable: 1\n',
        'minAvailable: 1\n          autoScalingConfig: {minReplicas: 2, maxReplicas: 4}\n',
      ),
    )
    for (const harnessOf of foreignByHarness) {
      await harness.until(
        `errors about ${harnessOf.map(({ name }) => name).join(', ')}`,
        () => errorsOf(harness, 'grouped'),
        errors =>
          harnessOf.every(({ resource, name }) =>
            errors.some(
              ({ description }) => description.includes(resource.kind) && description.includes(`/${name}`),
            ),
          ),
      )
      for (const foreign of harnessOf) {
        const ref = { name: foreign.name, namespace: harness.namespace }
        const now = await harness.client.get(foreign.resource, ref)
        assert.equal(now.metadata.uid, planted.get(foreign))
        assert.equal(now.metadata.ownerReferences, undefined, `${foreign.name} is not controlled by the set`)
        await harness.client.delete(foreign.resource, ref)
      }
    }
    await harness.untilReady('grouped', 10)
    await harness.untilAvailable('grouped', 1)
    assert.deepEqual(await errorsOf(harness, 'grouped'), [])
  },
}

export const strangeStateScenarios: Scenario[] = [
  takenNames,
  {
    name: 'reports errors of a set that was stored without admission, and deploys the set when they are fixed',
    async run(harness) {
      await store(harness, grouped.replace('[lead, work]', '[lead, ghost]'))
      const errors = await harness.until(
        'the error',
        () => errorsOf(harness, 'grouped'),
        found => found.length > 0,
      )
      assert.match(errors[0]!.description, /names the clique ghost, which the PodCliqueSet does not define/)
      await harness.untilQuiet()
      for (const { spec } of await harness.pods('grouped'))
        assert.ok(spec?.schedulingGates?.length, 'no pod of a gang that cannot be computed is scheduled')
      const path = '/spec/template/podCliqueScalingGroups/0/cliqueNames/1'
      await harness.client.patch(
        resources.podCliqueSets,
        { name: 'grouped', namespace: harness.namespace },
        { json: [{ op: 'replace', path, value: 'work' }] },
      )
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      // Without any defaulted field.
      await store(harness, solo)
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a namespace that is deleted while a set is deployed in it is deleted completely, and the operator does not obstruct this',
    async run(harness) {
      const name = `${harness.namespace}-going`
      await harness.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      await store(harness, grouped, name)
      await harness.until(
        'the first cliques',
        async () => (await harness.client.list(resources.podCliques, { namespace: name })).items,
        found => found.length > 0,
      )
      await harness.client.delete(namespaces, { name })
      await harness.until(
        'the namespace to be deleted',
        () => harness.client.find(namespaces, { name }),
        found => found === undefined,
      )
      await harness.untilQuiet()
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
    },
  },
  {
    name: 'removes foreign labels from children at the next reconcile, keeps them on pods, and restarts no pod',
    async run(harness) {
      const { client, namespace } = harness
      await harness.apply(solo)
      const before = await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      await harness.untilQuiet()
      const tags = { labels: { 'example.com/cost': 'a' }, annotations: { 'example.com/note': 'b' } }
      const tag = (resource: Resource<KubeObject>, name: string) =>
        client.patch(resource, { name, namespace }, { merge: { metadata: tags } })
      const children: [Resource<KubeObject>, string][] = [
        [untyped(resources.services), 'solo-0'],
        [untyped(resources.serviceAccounts), 'solo'],
        [untyped(resources.roles), 'grove.io:pcs:solo'],
      ]
      for (const [resource, name] of children) await tag(resource, name)
      for (const { metadata } of before) await tag(untyped(resources.pods), metadata.name)
      await tag(untyped(resources.podCliques), 'solo-0-web')
      await harness.writesOfAnotherReconcile('solo')
      harness.writes.length = 0
      await harness.patchSet('solo', {
        metadata: { annotations: { 'grove.io/reconcile-trigger': 'once more' } },
      })
      await harness.untilQuiet()
      assert.deepEqual(harness.writes, [], 'the operator changes nothing else')
      for (const [resource, name] of children) {
        const { labels, annotations } = (await client.get(resource, { name, namespace })).metadata
        assert.equal(labels?.['example.com/cost'], undefined, name)
        assert.equal(annotations?.['example.com/note'], 'b', name)
      }
      const after = await harness.untilReady('solo', 2)
      for (const { metadata } of after) {
        assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
        assert.equal(metadata.labels?.['example.com/cost'], 'a')
      }
    },
  },
]
