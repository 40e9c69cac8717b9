// SPDX-License-Identifier: Apache-2.0

// Decides reviews in separate processes, so that no request can block or end the server process. Promised: every
// request gets a response within its time-out. A request that takes too much work or memory is rejected and costs the
// others at most its work budget. The server process moves bytes and looks up facts; it parses no review.
// There are two lanes. Usual reviews go to a standing process. Large reviews queue in a separate lane, whose process
// starts on demand and ends when idle. So large requests do not delay usual ones, and their memory is returned at
// once.
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../log/index.ts'
import { counter, type Registry, webhookCatalogue } from '../../metrics/index.ts'
import { allowed, errored } from '../admission.ts'
import { RejectionMetrics } from '../rejections.ts'
import { type ReviewBody, rejectionOf, undecidedReview } from '../review.ts'
import { BudgetExceeded, ReviewLane } from './review-lane.ts'
import { ReviewProcess, ReviewProcessEnded } from './review-process.ts'

/** Larger reviews go to the lane for large ones. A set of 100 cliques has about 200 KiB, twice that in an update. */
export const largeReviewBytes = 512 * 1024

/**
 * The work budget of one review. Usual ones take milliseconds, the largest valid ones about a second. If a review
 * exceeds it, the next one is still decided within the default time-out of 10 s.
 */
const workBudgetMs = 4_000

/** The shortest time-out that the API allows. A client cannot shorten the budget further. */
const minBudgetMs = 1_000

/** Heap of a process. Usual reviews need less than 60 MiB; the largest valid ones need up to 250 MiB. */
const heapMiB = { usual: 128, large: 384 }

/** Limits of waiting reviews. The bytes fit into the server's budget for buffered bodies. */
const waiting = {
  usual: { maxReviews: 256, maxBytes: 32 * 1024 * 1024 },
  large: { maxReviews: 8, maxBytes: 28 * 1024 * 1024 },
}

export interface IsolatedReviewsOptions<Question, Facts> {
  /** The module that calls `serveReviews`. */
  readonly entry: string
  /** For the function that is given to `serveReviews`. Anything that can be cloned. */
  readonly setup: unknown
  /** Looks up the facts that a webhook asks for. They must be cloneable. */
  readonly lookUp: (question: Question, signal: AbortSignal) => Promise<Facts>
  readonly clock: Clock
  readonly log: Logger
  readonly registry?: Registry
  readonly workBudgetMs?: number
  readonly heapMiB?: { readonly usual: number; readonly large: number }
  /** False: the process for usual reviews also starts on demand and ends when idle. Default: true. */
  readonly isStanding?: boolean
  /** The response to a review that ends without a decision, for any reason. Default: reject. */
  readonly undecided?: 'reject' | 'allow'
}

export interface ReviewContext {
  /** Aborted when the API server no longer waits. */
  readonly signal: AbortSignal
  /** The total time-out of the API server. */
  readonly timeoutMs: number
  readonly onPanic: () => void
  /** The response to a review that ends without a decision. Default: that of the options. */
  readonly undecided?: 'reject' | 'allow'
}

export class IsolatedReviews<Question, Facts> {
  readonly #options: IsolatedReviewsOptions<Question, Facts>
  readonly #usual: ReviewLane
  readonly #large: ReviewLane
  readonly #rejections: RejectionMetrics | undefined

  constructor(options: IsolatedReviewsOptions<Question, Facts>) {
    this.#options = options
    const { entry, setup, clock, log, registry } = options
    const failures = registry && counter(registry, webhookCatalogue.processFailures)
    this.#rejections = registry && new RejectionMetrics(registry)
    for (const reason of ['budget', 'ended']) failures?.inc({ reason }, 0)
    const lane = (name: 'usual' | 'large') =>
      new ReviewLane({
        name,
        start: () => new ReviewProcess({ entry, setup, heapMiB: (options.heapMiB ?? heapMiB)[name] }),
        isStanding: name === 'usual' && (options.isStanding ?? true),
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

  /** Returns the response as JSON. Throws `Overloaded` if too many reviews wait. */
  async decide(path: string, review: ReviewBody, context: ReviewContext): Promise<string | Uint8Array> {
    const rejection = rejectionOf(review)
    if (rejection !== undefined || review.body === 'too-large') return rejection ?? ''
    const { body } = review
    const lane = body.length > largeReviewBytes ? this.#large : this.#usual
    const leave = lane.enter(body.length)
    try {
      return await this.#decide(lane, path, body, context)
    } catch (error) {
      if ((context.undecided ?? this.#options.undecided) === 'allow') return undecidedReview(body, allowed())
      if (error instanceof BudgetExceeded) return undecidedReview(body, errored(504, tooExpensive))
      if (error instanceof ReviewProcessEnded) return undecidedReview(body, errored(500, tooMuchMemory))
      throw error
    } finally {
      leave()
    }
  }

  async #decide(lane: ReviewLane, path: string, body: Buffer, context: ReviewContext): Promise<Uint8Array> {
    const { lookUp, log } = this.#options
    const { signal, timeoutMs } = context
    const budgetMs = Math.min(this.#options.workBudgetMs ?? workBudgetMs, Math.max(minBudgetMs, timeoutMs))
    let reply = await lane.run({ kind: 'review', path, body }, budgetMs, signal)
    if (reply.kind === 'question') {
      const facts = await lookUp(reply.question as Question, signal)
      reply = await lane.run({ kind: 'review', path, body, facts }, budgetMs, signal)
    }
    if (reply.kind === 'question')
      throw new Error(`the webhook ${path} asks again although it received the facts`)
    const { record } = reply
    if (record) this.#rejections?.count(path, record.fields)
    if (record) log[record.level](record.message, { webhook: path, ...record.fields })
    if (record?.level === 'error') context.onPanic()
    return reply.body
  }
}

const tooExpensive =
  'the request is too expensive to validate and was rejected; use fewer or smaller cliques, groups and lists'
const tooMuchMemory =
  'the admission process ended while it validated this request, probably for lack of memory; the request was rejected'
