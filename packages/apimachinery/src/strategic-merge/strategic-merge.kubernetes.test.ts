// SPDX-License-Identifier: Apache-2.0

// Strategic merge patches compared with a real API server: the same patches must give the same objects and
// errors.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import type { GoStruct, OpenApiSchemas } from '../apply/index.ts'
import { Chance, deploymentSpec, metadata, serviceSpec } from '../apply/testing/random-configuration.ts'
import { contentTypes, RealServer } from '../apply/testing/real-server.ts'
import { isJsonObject, type JsonObject } from '../json-value.ts'
import { applyStrategicMerge, StrategicMergeError } from './index.ts'
import { openApiStructs } from './testing/openapi-struct.ts'
import { withRandomDirectives } from './testing/random-directives.ts'

const seed = Number(process.env.SEED ?? 1)
const runs = Number(process.env.RUNS ?? 1)

let kubernetes: Kubernetes
let server: RealServer
let namespace: string
let deployment: GoStruct
let service: GoStruct
let pod: GoStruct
let compared = 0
let rejected = 0

before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  server = new RealServer(kubernetes)
  namespace = await kubernetes.newNamespace()
  const schemas = async (path: string) => {
    const { body } = await server.send('GET', path)
    return (body.components as JsonObject).schemas as OpenApiSchemas
  }
  const core = openApiStructs(await schemas('/openapi/v3/api/v1'))
  deployment = openApiStructs(await schemas('/openapi/v3/apis/apps/v1'))('io.k8s.api.apps.v1.Deployment')
  service = core('io.k8s.api.core.v1.Service')
  pod = core('io.k8s.api.core.v1.Pod')
})
after(async () => {
  console.log(`# ${compared} patches compared, ${rejected} of them rejected; seed ${seed}`)
  server?.[Symbol.dispose]()
  await kubernetes?.stop()
})

async function create(path: string, object: JsonObject): Promise<JsonObject> {
  const { code, body } = await server.send('POST', path, object)
  assert.equal(code, 201, JSON.stringify(body))
  return body
}

/**
 * Compares the response of the server with the local result. Returns the new live object, or the old one if
 * the patch was rejected.
 */
async function patch(
  path: string,
  live: JsonObject,
  change: JsonObject,
  struct: GoStruct,
): Promise<JsonObject> {
  const what = `patch ${JSON.stringify(change, null, 1)}\nof ${JSON.stringify(live)}`
  const response = await server.send(
    'PATCH',
    `${path}?fieldValidation=Ignore`,
    change,
    contentTypes.strategic,
  )
  compared++
  const ours = attempt(live, change, struct)
  if (ours instanceof StrategicMergeError) {
    // A patch may have several errors, and the server iterates over its members in random order.
    const chance = new Chance(compared)
    let error: JsonObject | StrategicMergeError = ours
    for (let i = 0; i < 200 && messageOf(error) !== response.body.message; i++)
      error = attempt(live, shuffled(chance, change) as JsonObject, struct)
    assert.equal(messageOf(error), response.body.message, what)
    assert.equal((error as StrategicMergeError).code, response.code, what)
    rejected++
    return live
  }
  const { resourceVersion: _, ...rest } = (ours.metadata ?? {}) as JsonObject
  const replaced = await server.send('PUT', `${path}?dryRun=All&fieldValidation=Ignore`, {
    ...ours,
    metadata: rest,
  })
  assert.equal(
    replaced.code >= 400,
    response.code >= 400,
    `${JSON.stringify(response)}\n${JSON.stringify(replaced)}\n${what}`,
  )
  if (response.code >= 400) return live
  assert.deepEqual(content(replaced.body), content(response.body), what)
  return response.body
}

function attempt(live: JsonObject, change: JsonObject, struct: GoStruct): JsonObject | StrategicMergeError {
  try {
    return applyStrategicMerge(live, change, struct)
  } catch (error) {
    if (error instanceof StrategicMergeError) return error
    throw error
  }
}

function messageOf(error: JsonObject | StrategicMergeError): unknown {
  return error instanceof StrategicMergeError ? error.message : undefined
}

function shuffled(chance: Chance, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => shuffled(chance, item))
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value)
  const order = keys.map(key => ({ key, place: chance.next() })).sort((a, b) => a.place - b.place)
  return Object.fromEntries(order.map(({ key }) => [key, shuffled(chance, value[key])]))
}

function content({ metadata, ...object }: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, generation: ___, ...rest } = metadata as JsonObject
  return { ...object, metadata: rest }
}

describe('random patches', () => {
  const many = (count: number) => Array.from({ length: count * runs }, (_, i) => seed * 1000 + i)

  test('of Deployments', async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
    for (const run of many(60)) {
      const chance = new Chance(run * 7919)
      const name = `d${run}`
      let live = await create(path, { metadata: { ...metadata(chance), name }, spec: deploymentSpec(chance) })
      for (let step = 0; step < 8; step++) {
        const change = { metadata: metadata(chance), spec: deploymentSpec(chance) }
        live = await patch(
          `${path}/${name}`,
          live,
          withRandomDirectives(chance, change, live, deployment),
          deployment,
        )
      }
    }
  })
  test('of Services', async () => {
    const path = `/api/v1/namespaces/${namespace}/services`
    for (const run of many(30)) {
      const chance = new Chance(run * 104729)
      const name = `s${run}`
      const spec = { ...serviceSpec(chance), ports: [{ port: 80, name: 'p80-tcp' }] }
      let live = await create(path, { metadata: { ...metadata(chance), name }, spec })
      for (let step = 0; step < 8; step++) {
        const change = { metadata: metadata(chance), spec: serviceSpec(chance) }
        live = await patch(
          `${path}/${name}`,
          live,
          withRandomDirectives(chance, change, live, service),
          service,
        )
      }
    }
  })
})

describe('single patches of a Pod', () => {
  const cases: Record<string, JsonObject> = {
    'an item without its key': { spec: { containers: [{ image: 'x' }] } },
    'an unknown directive': { spec: { $patch: 'shuffle' } },
    'the directive merge': { spec: { $patch: 'merge' } },
    'the directive merge in a list': { spec: { containers: [{ name: 'a', $patch: 'merge' }] } },
    'an unknown directive in a list': { spec: { containers: [{ name: 'a', $patch: 'shuffle' }] } },
    'a deletion without its key': { spec: { containers: [{ $patch: 'delete' }] } },
    'replacing a map': { metadata: { labels: { $patch: 'replace', only: 'this' } } },
    'emptying a map': { metadata: { labels: { $patch: 'delete' } } },
    'a scalar in a list of objects': { spec: { containers: ['a'] } },
    'a list in a list': { metadata: { finalizers: [['a']] } },
    'an object in a list of scalars': { metadata: { finalizers: [{ a: 'b' }] } },
    'retained keys that are not a list': { spec: { $retainKeys: 'x' } },
    'more than the retained keys': { metadata: { $retainKeys: ['name'], labels: { a: 'b' } } },
    'only retained keys': { metadata: { $retainKeys: ['name', 'labels'] } },
    'an order that is not a list': { spec: { '$setElementOrder/containers': 'x' } },
    'an order without a field': { spec: { $setElementOrder: ['x'] } },
    'an order of an unknown field': { spec: { '$setElementOrder/nothing': ['x'] } },
    'an order of a field that is not a list': { spec: { '$setElementOrder/nodeName': ['x'] } },
    'an order that misses an item': {
      spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a', image: 'x' }] },
    },
    'an order without keys': {
      spec: { '$setElementOrder/containers': [{ x: 'b' }], containers: [{ name: 'a' }] },
    },
    'a deletion list without a field': { metadata: { $deleteFromPrimitiveList: ['x'] } },
    'deleting scalars': { metadata: { '$deleteFromPrimitiveList/finalizers': ['test/a'] } },
    'deleting scalars of a field that is not a list': {
      metadata: { '$deleteFromPrimitiveList/labels': ['a'] },
    },
    'deleting scalars of an unknown field': { metadata: { '$deleteFromPrimitiveList/nothing': ['a'] } },
    'reordering scalars': { metadata: { '$setElementOrder/finalizers': ['test/b', 'test/a'] } },
    'reordering objects': { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
    'null removes': { metadata: { labels: { a: null }, finalizers: null } },
    'a null inside a new object': { metadata: { annotations: { a: null, b: 'c' } } },
    'a directive inside a new object': { spec: { nodeSelector: { $patch: 'replace', a: 'b' } } },
    'an unknown field': { spec: { nothing: { a: 'b' } } },
    'a scalar for an object': { metadata: { labels: 'x' } },
    'an object for a scalar': { spec: { containers: [{ name: 'a', image: { x: 'y' } }] } },
    nothing: {},
  }
  for (const [name, change] of Object.entries(cases))
    test(name, async () => {
      const path = `/api/v1/namespaces/${namespace}/pods`
      const spec = {
        containers: [
          { name: 'a', image: 'one' },
          { name: 'b', image: 'two' },
        ],
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      }
      const labels = { a: '1', b: '2' }
      const meta = { generateName: 'p', labels, finalizers: ['test/a', 'test/b'] }
      const live = await create(path, { metadata: meta, spec })
      await patch(`${path}/${(live.metadata as JsonObject).name}`, live, change, pod)
    })
})
