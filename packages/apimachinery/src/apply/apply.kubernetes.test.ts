// SPDX-License-Identifier: Apache-2.0

// Random writers on a real API server: the same writes must give the same objects, managedFields and errors.
// The environment variables SEED and RUNS choose the run and the number of runs.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import type { JsonObject } from '../json-value.ts'
import { type FieldType, objectMetaType } from './index.ts'
import { Chance, deploymentSpec, metadata, serviceSpec, widgetSpec } from './testing/random-configuration.ts'
import type { ServedKind } from './testing/real-server.ts'
import { customKind, widgetDefinition, widgetSchema } from './testing/served-kinds.ts'
import { plainControlPlane, TestCluster } from './testing/test-cluster.ts'

const seed = Number(process.env.SEED ?? 1)
const runs = Number(process.env.RUNS ?? 1)

let kubernetes: Kubernetes
let cluster: TestCluster
let widgets: ServedKind

before(async () => {
  kubernetes = await startKubernetes(plainControlPlane)
  await kubernetes.apply(widgetDefinition('widgets', widgetSchema))
  cluster = await TestCluster.on(kubernetes, await kubernetes.newNamespace())
  widgets = customKind('widgets', widgetSchema, cluster.namespace)
  await waitFor('widgets', () => cluster.serves(widgets))
})
after(async () => {
  cluster?.close()
  await kubernetes?.stop()
})

/** Random writers on one object. */
async function writers(
  kind: ServedKind,
  chance: Chance,
  steps: number,
  make: { first: () => JsonObject; next: () => JsonObject; status?: () => JsonObject },
): Promise<void> {
  const object = cluster.replay(kind)
  const { apiVersion, kind: name } = kind.main
  if (chance.flip()) await object.create({ apiVersion, kind: name, ...make.first() }, 'creator')
  else await object.apply(make.first(), 'first')
  for (let step = 0; step < steps && object.live; step++) {
    const manager = chance.pick(['one', 'two', 'three'])
    const what = chance.next()
    if (what < 0.6) await object.apply(make.next(), manager, chance.flip())
    else if (what < 0.75) await object.patch(make.next(), manager)
    else if (what < 0.9 || !make.status) {
      const { metadata: changed = {}, ...rest } = make.next()
      await object.replace(draft => {
        Object.assign(draft, rest)
        Object.assign(draft.metadata as JsonObject, changed)
        if (chance.flip()) delete (draft.metadata as JsonObject).managedFields
      }, manager)
    } else if (what < 0.95) await object.patch({ status: make.status() }, manager, 'merge', 'status')
    else await object.apply({ status: make.status() }, manager, chance.flip(), 'status')
  }
}

describe('random writers get the same results as on the API server for', () => {
  const many = (count: number) => Array.from({ length: count * runs }, (_, i) => seed * 1000 + i)

  test('a custom kind with every type of list and map', async () => {
    for (const run of many(60)) {
      const chance = new Chance(run * 7919)
      const next = () => ({ metadata: metadata(chance), spec: widgetSpec(chance) })
      const status = () =>
        chance.members({
          phase: () => chance.pick(['a', 'b']),
          conditions: () =>
            chance.some(['a', 'b', 'c']).map(type => ({ type, status: chance.pick(['True', 'False']) })),
        })
      await writers(widgets, chance, 12, { first: next, next, status })
    }
  })
  test('Deployments', async () => {
    for (const run of many(40)) {
      const chance = new Chance(run * 104729)
      const next = () => ({ metadata: metadata(chance), spec: deploymentSpec(chance) })
      const status = () =>
        chance.members({ replicas: () => chance.below(3), observedGeneration: () => chance.below(3) })
      await writers(cluster.builtIn.deployments, chance, 10, { first: next, next, status })
    }
  })
  test('Services', async () => {
    for (const run of many(25)) {
      const chance = new Chance(run * 31337)
      const next = () => ({ metadata: metadata(chance), spec: serviceSpec(chance) })
      const first = () => ({ spec: { ...serviceSpec(chance), ports: [{ port: 80, name: 'p80-tcp' }] } })
      await writers(cluster.builtIn.services, chance, 8, { first, next })
    }
  })
  test('ConfigMaps', async () => {
    for (const run of many(25)) {
      const chance = new Chance(run * 65537)
      const next = () => ({
        metadata: metadata(chance),
        ...chance.members({
          data: () =>
            Object.fromEntries(chance.some(['a', 'b', 'c']).map(key => [key, chance.pick(['1', '2'])])),
        }),
      })
      await writers(cluster.builtIn.configmaps, chance, 10, { first: next, next })
    }
  })
  test('Pods', async () => {
    for (const run of many(15)) {
      const chance = new Chance(run * 27644437)
      const spec = () => ({ containers: [{ name: 'a', image: chance.pick(['one', 'two']) }] })
      const next = () => ({ metadata: metadata(chance), ...(chance.flip() ? { spec: spec() } : {}) })
      const status = () =>
        chance.members({
          phase: () => chance.pick(['Running', 'Pending']),
          conditions: () =>
            chance
              .some(['Ready', 'PodScheduled'])
              .map(type => ({ type, status: chance.pick(['True', 'False']) })),
        })
      await writers(cluster.builtIn.pods, chance, 10, { first: () => ({ spec: spec() }), next, status })
    }
  })
})

test('the metadata type of custom kinds equals that of built-in kinds', () => {
  const served = cluster.builtIn.pods.main.type.map!.fields.get('metadata')!.type
  assert.deepEqual(shapes(objectMetaType), shapes(served))
})

/** Returns a type without defaults, with sorted fields. */
function shapes(type: FieldType): unknown {
  const { scalar, list, map } = type
  const fields = [...(map?.fields ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    scalar,
    list: list && { ...list, element: shapes(list.element) },
    map: map && {
      atomic: map.atomic,
      fields: fields.map(([name, field]) => [name, shapes(field.type)]),
      element: map.element?.map?.element === map.element || (map.element && shapes(map.element)),
    },
  }
}
