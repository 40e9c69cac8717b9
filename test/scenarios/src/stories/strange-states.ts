// SPDX-License-Identifier: Apache-2.0

// States that nobody should bring about and somebody does.
import assert from 'node:assert/strict'
import type { PodCliqueSet } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { parse } from 'yaml'
import { namespaces } from '../embedded-cluster.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
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

/** Objects of others under the names that a set needs, by when it needs them. */
const foreignByStage: readonly (readonly Foreign[])[] = [
  [
    { resource: untyped(resources.serviceAccounts), name: 'grouped' },
    {
      resource: untyped(resources.autoscalers),
      name: 'grouped-0-router',
      content: { spec: { maxReplicas: 2, scaleTargetRef: target } },
    },
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
]

async function plant(stage: Stage, { resource, name, content }: Foreign): Promise<Stored<KubeObject>> {
  const { group, version, kind } = resource
  return stage.client.create(resource, {
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    metadata: { name, namespace: stage.namespace },
    ...content,
  } as KubeObject)
}

const errorsOf = async (stage: Stage, set: string) => (await stage.set(set))?.status?.lastErrors ?? []

/** As it is stored by whoever has no admission. */
async function store(stage: Stage, manifest: string, namespace = stage.namespace): Promise<void> {
  const set = parse(manifest) as PodCliqueSet
  set.metadata.namespace = namespace
  await stage.client.create(resources.podCliqueSets, set)
}

export const takenNames: Story = {
  name: 'whatever has a name that a set needs is told of, left alone, and followed by ours when it goes',
  async tell(stage) {
    const planted = new Map<Foreign, string>()
    for (const foreign of foreignByStage.flat())
      planted.set(foreign, (await plant(stage, foreign)).metadata.uid)
    await stage.apply(
      grouped.replace(
        'minAvailable: 1\n',
        'minAvailable: 1\n          autoScalingConfig: {minReplicas: 2, maxReplicas: 4}\n',
      ),
    )
    for (const stageOf of foreignByStage) {
      await stage.until(
        `errors about ${stageOf.map(({ name }) => name).join(', ')}`,
        () => errorsOf(stage, 'grouped'),
        errors =>
          stageOf.every(({ resource, name }) =>
            errors.some(
              ({ description }) => description.includes(resource.kind) && description.includes(`/${name}`),
            ),
          ),
      )
      for (const foreign of stageOf) {
        const ref = { name: foreign.name, namespace: stage.namespace }
        const now = await stage.client.get(foreign.resource, ref)
        assert.equal(now.metadata.uid, planted.get(foreign))
        assert.equal(now.metadata.ownerReferences, undefined, `${foreign.name} is nobody's but theirs`)
        await stage.client.delete(foreign.resource, ref)
      }
    }
    await stage.untilReady('grouped', 10)
    await stage.untilAvailable('grouped', 1)
    assert.deepEqual(await errorsOf(stage, 'grouped'), [])
  },
}

export const strangeStateStories: Story[] = [
  takenNames,
  {
    name: 'a set that was stored while nothing judged it says what is wrong, and lives when that is put right',
    async tell(stage) {
      await store(stage, grouped.replace('[lead, work]', '[lead, ghost]'))
      const errors = await stage.until(
        'the error',
        () => errorsOf(stage, 'grouped'),
        found => found.length > 0,
      )
      assert.match(errors[0]!.description, /names the clique ghost, which the PodCliqueSet does not define/)
      await stage.untilQuiet()
      for (const { spec } of await stage.pods('grouped'))
        assert.ok(spec?.schedulingGates?.length, 'nothing is placed of a gang that cannot be computed')
      const path = '/spec/template/podCliqueScalingGroups/0/cliqueNames/1'
      await stage.client.patch(
        resources.podCliqueSets,
        { name: 'grouped', namespace: stage.namespace },
        { json: [{ op: 'replace', path, value: 'work' }] },
      )
      await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      // Without a single default filled in.
      await store(stage, solo)
      await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a namespace that goes while a set is made in it takes everything along, and the operator lets it',
    async tell(stage) {
      const name = `${stage.namespace}-going`
      await stage.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      await store(stage, grouped, name)
      await stage.until(
        'the first cliques',
        async () => (await stage.client.list(resources.podCliques, { namespace: name })).items,
        found => found.length > 0,
      )
      await stage.client.delete(namespaces, { name })
      await stage.until(
        'the namespace to be gone',
        () => stage.client.find(namespaces, { name }),
        found => found === undefined,
      )
      await stage.untilQuiet()
      await stage.apply(solo)
      await stage.untilReady('solo', 2)
    },
  },
  {
    name: 'labels that others put on what is ours go when it is looked at, on pods they stay; nothing restarts for it',
    async tell(stage) {
      const { client, namespace } = stage
      await stage.apply(solo)
      const before = await stage.untilReady('solo', 2)
      await stage.untilAvailable('solo', 1)
      await stage.untilQuiet()
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
      await stage.writesOnAnotherLook('solo')
      stage.writes.length = 0
      await stage.patchSet('solo', {
        metadata: { annotations: { 'grove.io/reconcile-trigger': 'once more' } },
      })
      await stage.untilQuiet()
      assert.deepEqual(stage.writes, [], 'and that is that')
      for (const [resource, name] of children) {
        const { labels, annotations } = (await client.get(resource, { name, namespace })).metadata
        assert.equal(labels?.['example.com/cost'], undefined, name)
        assert.equal(annotations?.['example.com/note'], 'b', name)
      }
      const after = await stage.untilReady('solo', 2)
      for (const { metadata } of after) {
        assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
        assert.equal(metadata.labels?.['example.com/cost'], 'a')
      }
    },
  },
]
