// SPDX-License-Identifier: Apache-2.0

// With real processes: the effect of a bad review on the server process and on other reviews.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { systemClock } from '../../clock/index.ts'
import { captureLog } from '../../log/index.ts'
import { createRegistry } from '../../metrics/index.ts'
import { review } from '../../testing/webhook-server.ts'
import { Overloaded } from '../limits.ts'
import { IsolatedReviews, type IsolatedReviewsOptions, largeReviewBytes } from './isolated-reviews.ts'

const never = new AbortController().signal
const entry = join(import.meta.dirname, '../../testing/sample-review-process.ts')
const padding = 'x'.repeat(largeReviewBytes)

interface Response {
  readonly uid: string
  readonly allowed: boolean
  readonly status: { readonly code: number; readonly message?: string }
}

let stop = new AbortController()
let running: Promise<void> | undefined
afterEach(async () => {
  stop.abort()
  await running
})

function start(options: Partial<IsolatedReviewsOptions<unknown, unknown>> = {}) {
  stop = new AbortController()
  const { log, lines } = captureLog()
  const registry = createRegistry()
  const reviews = new IsolatedReviews<unknown, unknown>({
    entry,
    setup: { greeting: 'hello' },
    lookUp: async question => ({ about: question }),
    clock: systemClock,
    log,
    registry,
    ...options,
  })
  running = reviews.run(stop.signal)
  const ask = async (path: string, over: object = {}, timeoutMs = 9_000): Promise<Response> => {
    const body = Buffer.from(review(over))
    const context = { signal: never, timeoutMs, onPanic: () => {} }
    const response = await reviews.decide(path, { contentType: 'application/json', body }, context)
    return JSON.parse(Buffer.from(response).toString()).response
  }
  return { reviews, ask, lines, registry }
}

describe('isolated reviews', () => {
  it('are decided with the setup of the process', async () => {
    const { ask, lines } = start()
    const { uid, allowed, status } = await ask('/greet', { name: 'bob' })
    assert.deepEqual([uid, allowed, status.code, status.message], ['u-1', false, 403, 'hello, bob'])
    const [line] = lines
    assert.equal(line?.message, 'Admission request decided')
    assert.deepEqual([line?.fields.webhook, line?.fields.name, line?.fields.code], ['/greet', 'bob', 403])
  })

  it('get the facts about the cluster that they ask for', async () => {
    const { ask } = start()
    assert.equal((await ask('/ask', { name: 'site' })).status.message, 'found {"about":{"askFor":"site"}}')
    assert.equal((await ask('/ask', { name: '' })).status.message, 'nothing asked')
  })

  it('get a response if they are malformed or their webhook throws', async () => {
    const { ask, reviews } = start()
    assert.equal(
      (await ask('/throw')).status.message,
      'panic: cannot read properties of undefined [recovered]',
    )
    const body = { contentType: 'application/json', body: Buffer.from('[') }
    const response = await reviews.decide('/greet', body, {
      signal: never,
      timeoutMs: 9_000,
      onPanic: () => {},
    })
    assert.match(Buffer.from(response).toString(), /json parse error/)
  })

  it('that exceed their work budget are rejected, and the next process decides the reviews behind them', async () => {
    const { ask, registry } = start({ workBudgetMs: 1_000 })
    const hostile = ask('/loop')
    const others = Promise.all(Array.from({ length: 20 }, (_, i) => ask('/greet', { name: `n${i}` })))
    const { uid, allowed, status } = await hostile
    assert.deepEqual([uid, allowed, status.code], ['u-1', false, 504])
    assert.match(status.message ?? '', /too expensive to validate/)
    assert.deepEqual(
      (await others).map(each => each.status.message),
      Array.from({ length: 20 }, (_, i) => `hello, n${i}`),
    )
    assert.match(await registry.metrics(), /webhook_review_process_failures_total\{reason="budget"\} 1\n/)
  })

  it('that exhaust the memory of their process are rejected, without further effect', async () => {
    const { ask, lines } = start({ heapMiB: { usual: 64, large: 64 }, workBudgetMs: 60_000 })
    const hostile = ask('/memory', {}, 60_000)
    const other = ask('/greet', { name: 'bob' })
    const { uid, allowed, status } = await hostile
    assert.deepEqual([uid, allowed, status.code], ['u-1', false, 500])
    assert.match(status.message ?? '', /lack of memory/)
    assert.equal((await other).status.message, 'hello, bob')
    const said = lines.find(({ level }) => level === 'error')
    assert.match(String(said?.fields.error), /heap out of memory/)
  })

  it('that exceed their work budget are allowed if the webhook only warns, and its process ends when idle', async () => {
    const { ask, reviews } = start({ workBudgetMs: 500, undecided: 'allow', isStanding: false })
    const { uid, allowed } = await ask('/loop')
    assert.deepEqual([uid, allowed], ['u-1', true])
    assert.equal((await ask('/greet', { name: 'bob' })).status.message, 'hello, bob')
    reviews.check()
  })

  it('that are aborted or too expensive are allowed if this webhook only warns, and rejected for others', async () => {
    const { ask, reviews } = start({ workBudgetMs: 500 })
    const decide = async (signal: AbortSignal) => {
      const context = { signal, timeoutMs: 9_000, onPanic: () => {}, undecided: 'allow' as const }
      const body = Buffer.from(review({}))
      const response = await reviews.decide('/loop', { contentType: 'application/json', body }, context)
      return JSON.parse(Buffer.from(response).toString()).response as Response
    }
    assert.equal((await decide(never)).allowed, true)
    assert.equal((await decide(AbortSignal.timeout(50))).allowed, true)
    assert.equal((await ask('/loop')).allowed, false)
  })

  it('of usual size do not wait for large ones', async () => {
    const { ask } = start()
    let isDecided = false
    const hostile = ask('/loop', { object: padding }, 1_000).then(response => {
      isDecided = true
      return response
    })
    assert.equal((await ask('/greet', { name: 'bob' })).status.message, 'hello, bob')
    assert.equal(isDecided, false)
    assert.equal((await hostile).status.code, 504)
    assert.equal((await ask('/greet', { name: padding })).status.code, 403)
  })

  it('are rejected as overloaded when too many wait', async () => {
    const { ask } = start({ workBudgetMs: 500 })
    const requests = Array.from({ length: 300 }, () => ask('/greet', { name: 'bob' }))
    const results = await Promise.allSettled(requests)
    const rejected = results.filter(result => result.status === 'rejected')
    assert.equal(rejected.length, 300 - 256)
    assert.ok(rejected.every(({ reason }) => reason instanceof Overloaded))
    assert.equal((await ask('/greet', { name: 'bob' })).status.code, 403)
  })

  it('leave the queue when their client is gone', async () => {
    const { ask, reviews, registry } = start({ workBudgetMs: 1_000 })
    const hostile = ask('/loop')
    const gone = new AbortController()
    const body = { contentType: 'application/json', body: Buffer.from(review({ name: 'bob' })) }
    const waiting = reviews.decide('/loop', body, {
      signal: gone.signal,
      timeoutMs: 9_000,
      onPanic: () => {},
    })
    gone.abort(new Error('the client closed the connection'))
    await assert.rejects(waiting, /closed the connection/)
    await hostile
    assert.equal((await ask('/greet', { name: 'bob' })).status.code, 403)
    assert.match(await registry.metrics(), /webhook_review_process_failures_total\{reason="budget"\} 1\n/)
  })
})

describe('the readiness of isolated reviews', () => {
  it('starts when the process has decided a review', async () => {
    const { reviews, ask } = start()
    assert.throws(() => reviews.check(), /has not started yet/)
    await ask('/greet')
    reviews.check()
  })

  it('ends if no process can start, with the reason', async () => {
    const { reviews, lines } = start({ entry: join(import.meta.dirname, 'there-is-none.ts') })
    while (lines.length === 0) await new Promise(resolve => setImmediate(resolve))
    assert.throws(() => reviews.check(), /cannot start: .*there-is-none/s)
  })
})
