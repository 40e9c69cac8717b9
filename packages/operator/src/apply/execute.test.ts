// SPDX-License-Identifier: Apache-2.0

// Tests the guarantees that hold for every write of the operator.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventValue, Service } from '@grove/api'
import { FakeClock, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { CodedError } from '../errors/coded-error.ts'
import { SetReplicaRemovals } from '../memory/removals.ts'
import { SetTable } from '../memory/set-table.ts'
import { failure, SimulatedApi } from '../testing/simulation/api.ts'
import { execute, executeEach, executeInOrder } from './execute.ts'
import type { Create, Intent } from './intent.ts'
import { firstBatch, mostCreated } from './writes.ts'

const namespace = 'serving'
const { services: resource } = resources
const signal = new AbortController().signal
const ownerUid = 'owner-uid'
const owner = { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: ownerUid, controller: true }
const about = { metadata: { name: 'about', namespace } }
const event = (reason: string): EventValue => ({ type: 'Normal', reason, message: '' }) as EventValue

function harness() {
  const api = new SimulatedApi(new FakeClock())
  const events: string[] = []
  const context = {
    caches: api.caches,
    events: {
      emit: (_: unknown, source: string, { reason }: EventValue) => void events.push(`${source} ${reason}`),
    },
    memory: { removals: new SetReplicaRemovals(new SetTable(() => true)) },
  }
  return {
    api,
    events,
    run: (intents: readonly Intent[], tolerated?: number) =>
      execute(intents, context, { signal, ...(tolerated && { tolerated }) }),
    inOrder: (steps: readonly (readonly Intent[])[]) => executeInOrder(steps, context, { signal }),
    each: (sequences: readonly (readonly (readonly Intent[])[])[]) =>
      executeEach(sequences, context, { signal }),
    put: (name: string, metadata: object = {}) =>
      api.put(resource, { metadata: { name, namespace, ...metadata }, spec: {} } as never) as Stored<Service>,
    get: (name: string) => api.get(resource, name),
    reject: (isRejected: (name: string) => boolean) => {
      api.hooks = {
        before: async ({ objects }) => {
          const names = objects.length ? objects.map(({ metadata }) => metadata.name) : ['']
          if (names.some(isRejected)) throw failure('Forbidden', 'quota')
        },
        after: () => undefined,
      }
    },
  }
}

const report = {
  about,
  source: 'test',
  done: () => event('Done'),
  failed: () => event('Failed'),
}

const creation = (name: string, more: Partial<Create<Service>> = {}): Create<Service> => ({
  kind: 'create',
  resource,
  object: { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, labels: { a: 'b' } } } as Service,
  report,
  error: cause => new CodedError('Sync', 'ERR_SYNC_HPA', `Error creating ${name}`, cause),
  existing: {
    ownerUid,
    awaitsDeletion: ({ metadata }) => metadata.labels?.watched === 'yes',
    repair: ({ metadata }) => (metadata.labels?.a === 'b' ? undefined : { metadata: { labels: { a: 'b' } } }),
    adopt: ({ metadata }) =>
      metadata.ownerReferences?.length ? undefined : { metadata: { ownerReferences: [owner] } },
    conflict: () => new CodedError('Sync', 'ERR_SET_CONTROLLER_REFERENCE', `${name} has another owner`),
  },
  ...more,
})

const messages = (failures: readonly unknown[]) => failures.map(one => (one as Error).message)

describe('an object that exists already', () => {
  test('is left alone if the owner controls it and it is complete', async () => {
    const { run, put, get, events } = harness()
    const before = put('s', { labels: { a: 'b' }, ownerReferences: [owner] })
    const { failures, written } = await run([creation('s')])
    assert.deepEqual([failures, written, events, get('s')], [[], 0, [], before])
  })

  test('is repaired if the owner controls it and fields are missing', async () => {
    const { run, put, get, events } = harness()
    put('s', { ownerReferences: [owner] })
    assert.equal((await run([creation('s')])).written, 1)
    assert.equal(get('s')?.metadata.labels?.a, 'b')
    assert.deepEqual(events, ['test Done'])
  })

  test('is adopted if it has no controller', async () => {
    const { run, put, get } = harness()
    put('s')
    assert.deepEqual((await run([creation('s')])).failures, [])
    assert.equal(get('s')?.metadata.ownerReferences?.[0]?.uid, ownerUid)
  })

  test('is reported with its own code, and not written, if another owner controls it', async () => {
    const { run, put, get, events } = harness()
    const before = put('s', { ownerReferences: [{ ...owner, uid: 'theirs' }] })
    const { failures } = await run([creation('s')])
    assert.equal((failures[0] as CodedError).code, 'ERR_SET_CONTROLLER_REFERENCE')
    assert.deepEqual(get('s'), before)
    assert.deepEqual(events, ['test Failed'])
  })

  for (const [labels, expected] of [
    [{ watched: 'yes' }, []],
    [{}, [/Error creating s, cause: its predecessor is still being deleted/]],
  ] as const)
    test(`is waited for if it is terminating${expected.length ? ', by a retry if its deletion enqueues no owner' : ''}`, async () => {
      const { run, put } = harness()
      put('s', { labels, ownerReferences: [owner], deletionTimestamp: '2030-01-01T00:00:00Z' })
      const failures = messages((await run([creation('s')])).failures)
      assert.equal(failures.length, expected.length)
      for (const [at, pattern] of expected.entries()) assert.match(failures[at]!, pattern)
    })

  test('is not created again if the plan already contains it', async () => {
    const { run, put, get } = harness()
    const known = put('s', { ownerReferences: [owner] })
    assert.deepEqual((await run([creation('s', { known })])).failures, [])
    assert.equal(get('s')?.metadata.labels?.a, 'b')
  })
})

describe('an object that is gone', () => {
  const gone = (put: (name: string) => Stored<Service>, api: SimulatedApi) => {
    const object = put('s')
    api.remove(resource, object)
    return object
  }
  const kinds: [string, (object: Stored<Service>) => Intent][] = [
    ['patch', object => ({ kind: 'patch', resource, object, merge: { metadata: { labels: {} } }, report })],
    ['delete', object => ({ kind: 'delete', resource, object, report })],
    ['writeStatus', object => ({ kind: 'writeStatus', resource, object, status: { a: 1 }, report })],
  ]
  for (const [kind, intent] of kinds)
    test(`makes ${kind} succeed without an event`, async () => {
      const { run, put, api, events } = harness()
      const { failures, written } = await run([intent(gone(put, api))])
      assert.deepEqual([failures, written, events], [[], 0, []])
    })

  test('is not deleted under the UID of its successor', async () => {
    const { run, put, api, get } = harness()
    const object = gone(put, api)
    put('s')
    assert.deepEqual((await run([{ kind: 'delete', resource, object }])).failures, [])
    assert.notEqual(get('s'), undefined)
  })
})

describe('a deletion that is rejected with a conflict', () => {
  test('fails while the object exists, so that it is retried', async () => {
    const { run, put, api, get } = harness()
    const object = put('s')
    api.hooks = {
      before: async () => {
        throw failure('Conflict', 'rejected by a webhook')
      },
      after: () => undefined,
    }
    const { failures, written } = await run([{ kind: 'delete', resource, object }])
    assert.deepEqual([messages(failures), written], [['Conflict: rejected by a webhook'], 0])
    assert.notEqual(get('s'), undefined)
  })
})

describe('failures', () => {
  test('do not stop other intents, and are returned with code and event', async () => {
    const { run, put, get, reject, events } = harness()
    const [one, other] = [put('one'), put('other')]
    reject(name => name === 'one')
    const { failures, written } = await run([
      { kind: 'delete', resource, object: one, report },
      { kind: 'delete', resource, object: other, report },
    ])
    assert.deepEqual(messages(failures), ['Forbidden: quota'])
    assert.equal(written, 1)
    assert.equal(get('other'), undefined)
    assert.deepEqual(events.toSorted(), ['test Done', 'test Failed'])
  })

  test('stop further creations after the tolerated number', async () => {
    const { run, reject, api } = harness()
    reject(() => true)
    const intents = Array.from({ length: 100 }, (_, at) => creation(`s${at}`))
    const { failures, skipped } = await run(intents, firstBatch)
    assert.equal(failures.length, firstBatch)
    assert.equal(skipped, 100 - firstBatch)
    assert.deepEqual(api.list(resource), [])
  })

  test('stop only the later steps of their own sequence', async () => {
    const { inOrder, each, put, get, reject } = harness()
    const objects = Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [name, put(name)]))
    const step = (name: string): Intent[] => [{ kind: 'delete', resource, object: objects[name]! }]
    reject(name => name === 'a')
    assert.equal((await inOrder([step('a'), step('b')])).length, 1)
    assert.notEqual(get('b'), undefined)
    assert.equal(
      (
        await each([
          [step('a'), step('b')],
          [step('c'), step('d')],
        ])
      ).length,
      1,
    )
    assert.deepEqual([get('b') !== undefined, get('c'), get('d')], [true, undefined, undefined])
  })
})

test('one reconcile creates a bounded number of objects and returns that there may be more', async () => {
  const { run, api } = harness()
  const intents = Array.from({ length: mostCreated + 1 }, (_, at) => creation(`s${at}`))
  const { hasMore, written } = await run(intents)
  assert.deepEqual([hasMore, written, api.list(resource).length], [true, mostCreated, mostCreated])
  assert.equal((await run([creation('last')])).hasMore, false)
})
