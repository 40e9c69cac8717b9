// SPDX-License-Identifier: Apache-2.0

// Tests that the operator polls the token Secret once per set, however many cliques wait for it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label, type Secret } from '@grove/api'
import { FakeClock, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { type CliqueKey, cliqueKey } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { Memory } from '../memory/memory.ts'
import type { OperatorContext } from '../operator-context.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { planToken, TokenSecrets } from './token-secret.ts'

const { signal } = new AbortController()

function harness() {
  const clock = new FakeClock()
  const api = new SimulatedApi(clock)
  const set = api.put(resources.podCliqueSets, sampleSet({ cliques: [clique('web')] }) as never) as StoredSet
  const reads: number[] = []
  const find = api.caches.client.find.bind(api.caches.client)
  api.caches.client.find = (async (resource: never, ref: never, options: never) => {
    reads.push(clock.monotonic())
    return find(resource, ref, options)
  }) as typeof api.caches.client.find
  const enqueued: CliqueKey[] = []
  let pollAt: number | undefined
  const context = {
    clock,
    caches: api.caches,
    memory: new Memory(api.caches, clock),
  } as unknown as OperatorContext
  const tokens = new TokenSecrets(context, {
    set: (_, afterMs) => {
      pollAt = clock.monotonic() + afterMs
    },
    clique: key => enqueued.push(key),
  })
  /** Polls with the requested delays for a duration. Returns the last report. */
  const pollFor = async (ms: number) => {
    const end = clock.monotonic() + ms
    let problem: Error | undefined
    while (pollAt !== undefined && pollAt <= end) {
      await clock.advance(pollAt - clock.monotonic())
      pollAt = undefined
      problem = await tokens.poll(set, signal)
    }
    await clock.advance(end - clock.monotonic())
    return problem
  }
  const ask = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, at) =>
        tokens.isFilledFor(set, cliqueKey({ namespace: 'serving', name: `w-${at}` }), signal),
      ),
    )
  const fill = () => api.modify(resources.secrets, 'w-ic-sat', { data: { token: 'dG9rZW4=' } })
  return { tokens, set, reads, enqueued, pollFor, ask, fill, clock, api }
}

test('200 waiting cliques cause one read at a time, with delays that grow to five seconds', async () => {
  const { tokens, set, reads, pollFor, ask } = harness()
  await tokens.sync(set, signal)
  assert.ok((await ask(200)).every(isFilled => !isFilled))
  await pollFor(20_000)
  assert.ok((await ask(200)).every(isFilled => !isFilled))
  assert.deepEqual(reads, [0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300])
})

test('the set reports a missing token after ten seconds; when the token exists, all cliques are reconciled', async () => {
  const { tokens, set, enqueued, pollFor, ask, fill } = harness()
  await tokens.sync(set, signal)
  await ask(3)
  assert.equal(await pollFor(9_000), undefined)
  const problem = await pollFor(3_000)
  assert.match(problem!.message, /ERR_SECRET_WITHOUT_TOKEN.*Secret serving\/w-ic-sat has no token/)
  assert.deepEqual(enqueued, [])
  fill()
  assert.equal(await pollFor(5_000), undefined)
  assert.deepEqual(enqueued, ['serving/w-0', 'serving/w-1', 'serving/w-2'])
  assert.ok((await ask(3)).every(isFilled => isFilled))
})

test('retries a failed read with the same delays', async () => {
  const { tokens, set, ask, pollFor, api, reads, fill, enqueued } = harness()
  await tokens.sync(set, signal)
  await ask(1)
  const { find } = api.caches.client
  api.caches.client.find = async () => {
    throw new Error('no connection')
  }
  await assert.rejects(pollFor(100), /no connection/)
  api.caches.client.find = find
  fill()
  await pollFor(10_000)
  assert.deepEqual([reads.at(-1), enqueued], [300, ['serving/w-0']])
})

test('recreates a Secret that the cluster deletes for a previous account, even if no cliques wait', async () => {
  const { tokens, set, pollFor, api } = harness()
  const account = (uid: string) =>
    api.put(resources.serviceAccounts, { metadata: { namespace: 'serving', name: 'w', uid } } as never)
  const first = account('first')
  await tokens.sync(set, signal)
  api.remove(resources.serviceAccounts as never, first)
  account('second')
  await tokens.sync(set, signal)
  api.remove(resources.secrets as never, api.get(resources.secrets, 'w-ic-sat')!)
  await pollFor(200)
  assert.ok(await api.caches.client.find(resources.secrets, { namespace: 'serving', name: 'w-ic-sat' }))
})

describe('the writes that ensure the Secret of a set', () => {
  const set = sampleSet({ cliques: [clique('web')] })
  const secret = (metadata: object): Stored<Secret> =>
    ({ metadata: { name: 'w-ic-sat', namespace: 'serving', uid: 's', ...metadata } }) as Stored<Secret>
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'X', name: 'w', uid: set.metadata.uid, controller: true },
  ]
  const filledFor = (uid: string) => ({ annotations: { 'kubernetes.io/service-account.uid': uid } })
  const steps = (found: Stored<Secret> | undefined) =>
    planToken(set, found, 'account').map(step => step.map(({ kind }) => kind))

  test('no Secret: create it', () => assert.deepEqual(steps(undefined), [['create']]))
  test('a Secret of this set, with or without a token for its account: no write', () => {
    assert.deepEqual(steps(secret({ ownerReferences })), [])
    assert.deepEqual(steps(secret({ ownerReferences, ...filledFor('account') })), [])
    assert.deepEqual(steps(secret({ labels: { [label.partOf]: 'w' } })), [], 'of an earlier set of this name')
  })
  test('a Secret of this set for a deleted account: delete it, then create it', () =>
    assert.deepEqual(steps(secret({ ownerReferences, ...filledFor('former') })), [['delete'], ['create']]))
  test('a Secret of another owner: report it and write nothing', () =>
    assert.throws(() => steps(secret({})), /serving\/w-ic-sat/))
})

test('keeps an existing Secret of this name if the set controls it', async () => {
  const { tokens, set, api } = harness()
  const labels = { [label.partOf]: 'w' }
  const metadata = { name: 'w-ic-sat', namespace: 'serving', labels }
  const known = api.put(resources.secrets, { metadata } as never)
  await tokens.sync(set, signal)
  assert.deepEqual(api.list(resources.secrets), [known])
})

test('reports an existing Secret of this name if another owner controls it', async () => {
  const { tokens, set, api } = harness()
  api.put(resources.secrets, { metadata: { name: 'w-ic-sat', namespace: 'serving' } } as never)
  await assert.rejects(tokens.sync(set, signal), /serving\/w-ic-sat/)
})
