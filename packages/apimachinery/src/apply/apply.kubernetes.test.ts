// SPDX-License-Identifier: Apache-2.0

// Server-side apply against a real API server: the same writes there and here give the same objects, owners and
// refusals.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import type { JsonObject } from '../json-value.ts'
import { Chance, deploymentSpec, metadata, serviceSpec, widgetSpec } from './random-configuration.fixture.ts'
import { RealServer, Replay, type ServedKind } from './real-server.fixture.ts'
import { builtInKinds, customKind, widgetDefinition, widgetSchema } from './served-kinds.fixture.ts'

const seed = Number(process.env.SEED ?? 1)
const runs = Number(process.env.RUNS ?? 1)

let kubernetes: Kubernetes
let server: RealServer
let namespace: string
let builtIn: Awaited<ReturnType<typeof builtInKinds>>
let widgets: ServedKind
let names = 0

before(async () => {
  kubernetes = await startKubernetes({
    controllers: false,
    scheduler: false,
    kwok: false,
    // What admission fills in has no owner, and would only hide what the writers did.
    flags: {
      'kube-apiserver': [
        '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,DefaultIngressClass',
      ],
    },
  })
  server = new RealServer(kubernetes)
  namespace = await kubernetes.newNamespace()
  await kubernetes.apply(widgetDefinition('widgets', widgetSchema))
  widgets = customKind('widgets', widgetSchema, namespace)
  builtIn = await builtInKinds(server, namespace)
  await waitFor('widgets', async () => (await server.send('GET', widgets.path)).code === 200)
})
after(async () => {
  console.log(`# ${server?.compared} writes compared, ${server?.conflicts} of them conflicts; seed ${seed}`)
  server?.[Symbol.dispose]()
  await kubernetes?.stop()
})

function replay(kind: ServedKind): Replay {
  return new Replay(server, kind, `n${names++}`)
}

/** Random writers on one object. */
async function writers(
  kind: ServedKind,
  chance: Chance,
  steps: number,
  make: { first: () => JsonObject; next: () => JsonObject; status?: () => JsonObject },
): Promise<void> {
  const object = replay(kind)
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

describe('random writers agree with the server about', () => {
  const many = (count: number) => Array.from({ length: count * runs }, (_, i) => seed * 1000 + i)

  test('a custom kind with every kind of list and map', async () => {
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
      await writers(builtIn.deployments, chance, 10, { first: next, next, status })
    }
  })
  test('Services', async () => {
    for (const run of many(25)) {
      const chance = new Chance(run * 31337)
      const next = () => ({ metadata: metadata(chance), spec: serviceSpec(chance) })
      const first = () => ({ spec: { ...serviceSpec(chance), ports: [{ port: 80, name: 'p80-tcp' }] } })
      await writers(builtIn.services, chance, 8, { first, next })
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
      await writers(builtIn.configmaps, chance, 10, { first: next, next })
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
      await writers(builtIn.pods, chance, 10, { first: () => ({ spec: spec() }), next, status })
    }
  })
})

describe('single stories', () => {
  test('who applies owns exactly what it applies, and gives it up by leaving it out', async () => {
    const object = replay(widgets)
    await object.apply({ spec: { size: 1, env: [{ name: 'a', value: '1' }, { name: 'b' }] } }, 'one')
    await object.apply({ spec: { env: [{ name: 'a', value: '1' }] } }, 'two')
    await object.apply({ spec: { env: [{ name: 'b' }] } }, 'one')
    assert.deepEqual(object.live!.spec, {
      defaulted: 'given',
      env: [{ name: 'a', value: '1' }, { name: 'b' }],
    })
    await object.apply({}, 'one')
    await object.apply({}, 'two')
    // Not even the default stays of a struct that nobody has any more.
    assert.equal(object.live!.spec, undefined)
  })
  test('more than ten updaters become ancient changes', async () => {
    const object = replay(builtIn.configmaps)
    await object.create({ apiVersion: 'v1', kind: 'ConfigMap', data: { z: '1' } }, 'creator')
    for (let i = 0; i < 14; i++) await object.patch({ data: { [`key${i}`]: 'x' } }, `updater${i}`)
    assert.ok(object.live!.metadata.managedFields!.some(entry => entry.manager === 'ancient-changes'))
  })
  test('an object without owners has them from before the first apply', async () => {
    const object = replay(builtIn.configmaps)
    await object.create({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }, 'creator')
    await object.reset('eraser')
    const live = await server.send('GET', object.path)
    object.live = live.body
    assert.equal(live.body.metadata.managedFields, undefined)
    await object.patch({ data: { b: '2' } }, 'ignored')
    await object.apply({ data: { a: '1', c: '3' } }, 'one')
    await object.apply({ data: { b: '3' } }, 'one')
  })
})
