// SPDX-License-Identifier: Apache-2.0

// One poll of the token Secret per set, however many cliques wait for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { ObjectKey } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { TokenSecrets } from './token-secret.ts'

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
  const woken: ObjectKey[] = []
  let pollAt: number | undefined
  const context = { clock, caches: api.caches } as unknown as OperatorContext
  const tokens = new TokenSecrets(context, {
    set: (_, afterMs) => {
      pollAt = clock.monotonic() + afterMs
    },
    clique: key => woken.push(key),
  })
  /** Polls as often as it asks for, for so long; returns what it reports in the end. */
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
        tokens.isFilledFor(set, `serving/w-${at}` as ObjectKey, signal),
      ),
    )
  const fill = () => api.modify(resources.secrets, 'w-ic-sat', { data: { token: 'dG9rZW4=' } })
  return { tokens, set, reads, woken, pollFor, ask, fill, clock, api }
}

test('200 cliques that wait cause one read at a time, with growing waits up to five seconds', async () => {
  const { tokens, set, reads, pollFor, ask } = harness()
  await tokens.sync(set, signal)
  assert.ok((await ask(200)).every(isFilled => !isFilled))
  await pollFor(20_000)
  assert.ok((await ask(200)).every(isFilled => !isFilled))
  assert.deepEqual(reads, [0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300])
})

test('after ten seconds the set reports it, until there is a token; then all cliques are reconciled', async () => {
  const { tokens, set, woken, pollFor, ask, fill } = harness()
  await tokens.sync(set, signal)
  await ask(3)
  assert.equal(await pollFor(9_000), undefined)
  const problem = await pollFor(3_000)
  assert.match(problem!.message, /ERR_SECRET_WITHOUT_TOKEN.*Secret serving\/w-ic-sat has no token/)
  assert.deepEqual(woken, [])
  fill()
  assert.equal(await pollFor(5_000), undefined)
  assert.deepEqual(woken, ['serving/w-0', 'serving/w-1', 'serving/w-2'])
  assert.ok((await ask(3)).every(isFilled => isFilled))
})

test('a failed read is retried with the same waits', async () => {
  const { tokens, set, ask, pollFor, api, reads, fill, woken } = harness()
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
  assert.deepEqual([reads.at(-1), woken], [300, ['serving/w-0']])
})

test('a Secret that the cluster deletes for a previous account is created again, without cliques that wait', async () => {
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
