// SPDX-License-Identifier: Apache-2.0

// Decides reviews in processes of their own, so that no request can hold up or end the process that serves it. Promises:
// every request gets a response within its time-out; a request that takes too much work or memory is rejected and costs
// the others at most its work budget. This process moves bytes and looks things up; it parses no review.
//
// There are two lanes. Usual reviews go to a process that stands ready. Large reviews wait for each other in a lane of
// their own, whose process starts when needed and ends when idle: large requests delay no usual ones, and the memory that
// they need is returned at once.
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../log/index.ts'
import { counter, type Registry } from '../../metrics/index.ts'
import { type ReviewBody, rejectionOf, undecidedReview } from '../review.ts'
import { BudgetExceeded, ReviewLane } from './review-lane.ts'
import { ReviewProcess, ReviewProcessEnded } from './review-process.ts'

/** Reviews above this go to the lane for large ones. A set of 100 cliques has about 200 KiB, twice that in an update. */
export const largeReviewBytes = 512 * 1024

/**
 * What one review may take. Usual ones take milliseconds, the largest valid ones about a second. Small enough that a
 * request behind one that exceeds it is still decided within the default time-out of 10 s.
 */
export const workBudgetMs = 4_000

/** The API allows no shorter time-out than this. A client that names one does not shorten the budget further. */
const leastBudgetMs = 1_000

/** Heap of a process. Usual reviews need less than 60 MiB; the largest valid ones need up to 250 MiB. */
const heapMiB = { usual: 128, large: 384 }

/** Reviews that may wait. The bytes fit into the budget of the server for buffered bodies. */
const waiting = {
  usual: { maxReviews: 256, maxBytes: 32 * 1024 * 1024 },
  large: { maxReviews: 8, maxBytes: 28 * 1024 * 1024 },
}

export interface IsolatedReviewsOptions<Question, Facts> {
  /** The module that calls `serveReviews`. */
  readonly entry: string
  /** For the function that is given to `serveReviews`. Anything that can be cloned. */
  readonly setup: unknown
  /** Answers what a webhook asks about the cluster. The facts can be cloned. */
  readonly lookUp: (question: Question, signal: AbortSignal) => Promise<Facts>
  readonly clock: Clock
  readonly log: Logger
  readonly registry?: Registry
  readonly workBudgetMs?: number
  readonly heapMiB?: { readonly usual: number; readonly large: number }
}

export interface ReviewContext {
  /** Aborted when the API server no longer waits. */
  readonly signal: AbortSignal
  /** How long the API server waits in all. */
  readonly timeoutMs: number
  readonly onPanic: () => void
}

export class IsolatedReviews<Question, Facts> {
  readonly #options: IsolatedReviewsOptions<Question, Facts>
  readonly #usual: ReviewLane
  readonly #large: ReviewLane

  constructor(options: IsolatedReviewsOptions<Question, Facts>) {
    this.#options = options
    const { entry, setup, clock, log, registry } = options
    const failures =
      registry &&
      counter(registry, {
        name: 'webhook_review_process_failures_total',
        help: 'Total number of review processes that a request ended, by reason.',
        labelNames: ['reason'] as const,
      })
    for (const reason of ['budget', 'ended']) failures?.inc({ reason }, 0)
    const lane = (name: 'usual' | 'large') =>
      new ReviewLane({
        name,
        start: () => new ReviewProcess({ entry, setup, heapMiB: (options.heapMiB ?? heapMiB)[name] }),
        isStanding: name === 'usual',
        ...waiting[name],
        clock,
        log,
        onFailure: reason => failures?.inc({ reason }),
      })
    this.#usual = lane('usual')
    this.#large = lane('large')
  }

  /** Keeps the standing process until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#usual.start().catch(() => {}), aborted])
    await aborted
    this.#usual.stop()
    this.#large.stop()
  }

  /** For the readiness probe: throws until the standing process has decided its first review. */
  check(): void {
    this.#usual.check()
  }

  /** Returns the response as JSON. Throws `Overloaded` when too many reviews wait. */
  async answer(path: string, review: ReviewBody, context: ReviewContext): Promise<string | Uint8Array> {
    const rejection = rejectionOf(review)
    if (rejection !== undefined || review.body === 'too-large') return rejection ?? ''
    const { body } = review
    const lane = body.length > largeReviewBytes ? this.#large : this.#usual
    const leave = lane.enter(body.length)
    try {
      return await this.#decide(lane, path, body, context)
    } catch (error) {
      if (error instanceof BudgetExceeded) return undecidedReview(body, 504, tooExpensive)
      if (error instanceof ReviewProcessEnded) return undecidedReview(body, 500, tooMuchMemory)
      throw error
    } finally {
      leave()
    }
  }

  async #decide(lane: ReviewLane, path: string, body: Buffer, context: ReviewContext): Promise<Uint8Array> {
    const { lookUp, log } = this.#options
    const { signal, timeoutMs } = context
    const budgetMs = Math.min(this.#options.workBudgetMs ?? workBudgetMs, Math.max(leastBudgetMs, timeoutMs))
    let reply = await lane.run({ kind: 'review', path, body }, budgetMs, signal)
    if (reply.kind === 'question') {
      const facts = await lookUp(reply.question as Question, signal)
      reply = await lane.run({ kind: 'review', path, body, facts }, budgetMs, signal)
    }
    if (reply.kind === 'question') throw new Error(`the webhook ${path} asks again although it has the facts`)
    const { record } = reply
    if (record) log[record.level](record.message, { webhook: path, ...record.fields })
    if (record?.level === 'error') context.onPanic()
    return reply.body
  }
}

const tooExpensive =
  'the request is too expensive to validate and was rejected; use fewer or smaller cliques, groups and lists'
const tooMuchMemory =
  'the admission process ended while it validated this request, probably for lack of memory; the request was rejected'
