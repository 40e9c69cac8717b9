// SPDX-License-Identifier: Apache-2.0

// Single scenarios of server-side apply, compared with a real API server: objects, managedFields and errors
// must be equal.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import type { JsonObject } from '../json-value.ts'
import type { JSONSchemaProps } from '../structural-schema/json-schema-props.ts'
import {
  fieldElement,
  fieldTypeOfSchema,
  managedFieldsAfterScale,
  scaleManagedFields,
  trackUpdate,
} from './index.ts'
import { invalidWidgets } from './testing/invalid-configurations.ts'
import { Replay, type ServedKind } from './testing/real-server.ts'
import { customKind, widgetDefinition, widgetSchema } from './testing/served-kinds.ts'
import { plainControlPlane, TestCluster } from './testing/test-cluster.ts'

let kubernetes: Kubernetes
let cluster: TestCluster
let widgets: ServedKind
let blobs: ServedKind

before(async () => {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schemas = { widgets: widgetSchema, blobs: anything, shifts: shiftSchema(false) }
  kubernetes = await startKubernetes(plainControlPlane)
  await kubernetes.apply(Object.entries(schemas).map(([plural, schema]) => widgetDefinition(plural, schema)))
  cluster = await TestCluster.on(kubernetes, await kubernetes.newNamespace())
  widgets = customKind('widgets', widgetSchema, cluster.namespace)
  blobs = customKind('blobs', anything, cluster.namespace)
  for (const kind of [widgets, blobs, shifts(false)]) await waitFor(kind.path, () => cluster.serves(kind))
})
after(async () => {
  cluster?.close()
  await kubernetes?.stop()
})

const scaleType = fieldTypeOfSchema({
  type: 'object',
  properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
})

function shiftSchema(whole: boolean): JSONSchemaProps {
  const text = { type: 'string' }
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          unit: {
            type: 'object',
            additionalProperties: text,
            ...(whole ? { 'x-kubernetes-map-type': 'atomic' } : {}),
          },
          list: { type: 'array', items: text, 'x-kubernetes-list-type': whole ? 'atomic' : 'set' },
        },
      },
    },
  }
}

function shifts(whole: boolean): ServedKind {
  return customKind('shifts', shiftSchema(whole), cluster.namespace)
}

describe('error messages equal those of the API server', () => {
  for (const [name, configuration] of Object.entries(invalidWidgets))
    test(name, async () => {
      const object = cluster.replay(widgets)
      await object.apply({ spec: { size: 1 } }, 'one')
      assert.ok((await object.apply(configuration, 'two')).code >= 400)
    })
  test('conflicts with several managers, some of them of the status', async () => {
    const object = cluster.replay(widgets)
    const env = (value: string) => ['a', 'b'].map(name => ({ name, value }))
    await object.apply({ spec: { size: 1, entries: { 'a.b/c': 'x' }, env: env('1'), tags: ['q'] } }, 'one')
    await object.patch({ spec: { title: 'a', args: ['a'], ports: [{ port: 80, name: 'a' }] } }, 'two')
    await object.patch({ status: { phase: 'a' } }, 'three', 'merge', 'status')
    await object.apply({ status: { phase: 'b' } }, 'four', false, 'status')
    const { code } = await object.apply(
      {
        spec: {
          size: 2,
          entries: { 'a.b/c': 'y' },
          env: env('2'),
          title: 'b',
          args: ['b'],
          ports: [{ port: 80, name: 'b' }],
        },
      },
      'five',
    )
    assert.equal(code, 409)
  })
})

describe('single scenarios', () => {
  test('items with duplicate keys are owned together', async () => {
    const object = cluster.replay(cluster.builtIn.deployments)
    const spec = (env: JsonObject[]) => ({
      selector: { matchLabels: { app: 'x' } },
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'a', image: 'one', env }] },
      },
    })
    const twice = [
      { name: 'E', value: '1' },
      { name: 'E', value: '2' },
    ]
    await object.create({ apiVersion: 'apps/v1', kind: 'Deployment', spec: spec(twice) }, 'creator')
    await object.apply({ spec: spec([{ name: 'F', value: '1' }]) }, 'one')
    await object.apply({ spec: spec([{ name: 'E', value: '3' }]) }, 'one')
    await object.apply({ spec: spec([{ name: 'E', value: '3' }]) }, 'one', true)
    await object.apply({ spec: spec([]) }, 'one')
    await object.replace(
      draft => Object.assign(draft, { spec: spec([...twice, { name: 'G', value: '1' }]) }),
      'two',
    )
    await object.replace(draft => Object.assign(draft, { spec: spec([twice[1]!, twice[0]!]) }), 'three')
    await object.replace(draft => Object.assign(draft, { spec: spec([twice[1]!]) }), 'four')
  })
  test('a kind without a schema is merged by the types of its values', async () => {
    const object = cluster.replay(blobs)
    await object.apply({ spec: { a: 1, list: [{ name: 'a' }], deep: { x: { y: 1 } } }, extra: 'x' }, 'one')
    await object.apply({ spec: { a: 1, list: [{ name: 'b' }], deep: { x: { z: 1 } } } }, 'two')
    await object.apply({ spec: { list: [{ name: 'b' }], deep: { x: { z: 1 } } } }, 'two', true)
    await object.apply({ spec: { deep: 'text' } }, 'three', true)
    await object.patch({ spec: { deep: { x: [1] }, a: { b: null } } }, 'four')
    await object.apply({ spec: { a: null, deep: { x: null } } }, 'three', true)
    await object.apply({}, 'one')
  })
  test('kubectl takes over fields that it applied on the client side', async () => {
    const object = cluster.replay(cluster.builtIn.configmaps)
    const config = (data: JsonObject) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: object.name, namespace: cluster.namespace },
      data,
    })
    const { code, stderr } = await kubernetes.kubectl('apply', '-f', '-', {
      input: JSON.stringify(config({ a: '1', b: '1', c: '<&>' })),
    })
    assert.equal(code, 0, stderr)
    object.live = (await cluster.server.send('GET', object.path)).body
    await object.patch({ data: { b: '2' } }, 'other')
    assert.equal((await object.apply(config({ a: '2', b: '3', c: 'z' }), 'kubectl')).code, 409)
    assert.equal((await object.apply(config({ a: '2', c: 'z' }), 'other-applier')).code, 409)
    assert.equal((await object.apply(config({ a: '2', c: '<&>' }), 'kubectl')).code, 200)
    assert.equal((await object.apply(config({ a: '3' }), 'kubectl')).code, 200)
  })
  test('scaled replicas belong to the manager that scaled them', async () => {
    const object = cluster.replay(cluster.builtIn.deployments)
    const spec = {
      replicas: 1,
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'one' }] } },
    }
    await object.apply({ spec }, 'one')
    const replicas = [fieldElement('spec'), fieldElement('replicas')]
    for (const [count, manager] of [
      [3, 'scaler'],
      [4, 'scaler'],
      [5, 'second'],
    ] as const) {
      const before = object.live!.metadata.managedFields
      const body = { spec: { replicas: count } }
      const path = `${object.path}/scale?fieldManager=${manager}`
      assert.equal((await cluster.server.send('PATCH', path, body, 'application/merge-patch+json')).code, 200)
      object.live = (await cluster.server.send('GET', object.path)).body
      const scale = (value: number) => ({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { uid: 'x' },
        spec: { replicas: value },
      })
      const scaled = trackUpdate({
        kind: {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          type: scaleType,
          empty: {},
          subresource: 'scale',
        },
        live: {
          ...scale(count - 1),
          metadata: { uid: 'x', managedFields: scaleManagedFields(before, replicas) },
        },
        object: scale(count),
        manager,
        time: new Date().toISOString(),
      })
      assert.deepEqual(
        managedFieldsAfterScale(before, scaled, replicas, 'apps/v1'),
        object.live.metadata.managedFields,
      )
    }
    assert.equal((await object.apply({ spec }, 'one')).code, 409)
  })
  test('fields of an object become one atomic field when the schema says so', async () => {
    const object = cluster.replay(shifts(false))
    await object.apply({ spec: { unit: { a: '1' }, list: ['a'] } }, 'one')
    await object.apply({ spec: { unit: { b: '1' }, list: ['b'] } }, 'two')
    await object.patch({ spec: { unit: { c: '1' } } }, 'three')
    await kubernetes.apply(widgetDefinition('shifts', shiftSchema(true)), '--force-conflicts')
    await waitFor('the new schema', async () => {
      const probe = {
        apiVersion: 'apply.test/v1',
        kind: 'Shift',
        metadata: { name: 'probe' },
        spec: { unit: { a: '1' } },
      }
      const path = `${shifts(true).path}/probe?dryRun=All&fieldManager=probe`
      const { body } = await cluster.server.send('PATCH', path, probe, 'application/apply-patch+yaml')
      return JSON.stringify(body.metadata?.managedFields?.[0]?.fieldsV1) === '{"f:spec":{"f:unit":{}}}'
    })
    const whole = new Replay(cluster.server, shifts(true), object.name)
    whole.live = object.live
    await whole.apply({ spec: { unit: { a: '1' }, list: ['a', 'b'] } }, 'one')
    await whole.patch({ spec: { unit: { d: '1' } } }, 'four')
    await whole.apply({ spec: { unit: { a: '1', b: '1', c: '1', d: '1' } } }, 'two')
    await whole.apply({ spec: { unit: { a: '2' } } }, 'two')
    await whole.apply({ spec: { unit: { a: '2' } } }, 'two', true)
  })
  test('a write without changes keeps its time', async () => {
    const object = cluster.replay(widgets)
    const configuration = { spec: { size: 1, env: [{ name: 'a' }] } }
    await object.apply(configuration, 'one')
    await object.patch({ spec: { title: 'a' } }, 'two')
    const { managedFields, resourceVersion } = object.live!.metadata
    // Timestamps have whole seconds.
    await new Promise(resolve => setTimeout(resolve, 1100))
    await object.apply(configuration, 'one')
    await object.patch({ spec: { title: 'a' } }, 'two')
    assert.deepEqual(object.live!.metadata.managedFields, managedFields)
    assert.equal(object.live!.metadata.resourceVersion, resourceVersion)
    // A manager that now owns the same fields has no time, because nothing changed.
    await object.apply(configuration, 'three')
    assert.equal(
      object.live!.metadata.managedFields?.find(entry => entry.manager === 'three')?.time,
      undefined,
    )
  })
  test('an applier owns exactly the fields that it applies, and gives up omitted fields', async () => {
    const object = cluster.replay(widgets)
    await object.apply({ spec: { size: 1, env: [{ name: 'a', value: '1' }, { name: 'b' }] } }, 'one')
    await object.apply({ spec: { env: [{ name: 'a', value: '1' }] } }, 'two')
    await object.apply({ spec: { env: [{ name: 'b' }] } }, 'one')
    assert.deepEqual(object.live!.spec, {
      defaulted: 'given',
      env: [{ name: 'a', value: '1' }, { name: 'b' }],
    })
    await object.apply({}, 'one')
    await object.apply({}, 'two')
    // A struct without remaining owners loses its defaults too.
    assert.equal(object.live!.spec, undefined)
  })
  test('more than ten update managers are merged into ancient-changes', async () => {
    const object = cluster.replay(cluster.builtIn.configmaps)
    await object.create({ apiVersion: 'v1', kind: 'ConfigMap', data: { z: '1' } }, 'creator')
    for (let i = 0; i < 14; i++) await object.patch({ data: { [`key${i}`]: 'x' } }, `updater${i}`)
    assert.ok(object.live!.metadata.managedFields!.some(entry => entry.manager === 'ancient-changes'))
  })
  test('the first apply to an object without managedFields adds the manager before-first-apply', async () => {
    const object = cluster.replay(cluster.builtIn.configmaps)
    await object.create({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }, 'creator')
    await object.reset('eraser')
    const live = await cluster.server.send('GET', object.path)
    object.live = live.body
    assert.equal(live.body.metadata.managedFields, undefined)
    await object.patch({ data: { b: '2' } }, 'ignored')
    await object.apply({ data: { a: '1', c: '3' } }, 'one')
    await object.apply({ data: { b: '3' } }, 'one')
  })
})
