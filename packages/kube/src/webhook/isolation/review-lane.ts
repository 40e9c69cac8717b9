// SPDX-License-Identifier: Apache-2.0

// A bounded queue of reviews in front of one review process. A review that exceeds its work budget or its memory ends
// the process; the reviews behind it go to the next process. Not promised: that reviews of one lane do not wait for
// each other.
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../log/index.ts'
import { Overloaded } from '../limits.ts'
import type { ReviewMessage, ReviewReply } from './messages.ts'
import { type ReviewProcess, ReviewProcessEnded } from './review-process.ts'

/** Delay before another attempt to start a process, because the cause of the failure must change first. */
const restartDelayMs = 1_000

export interface ReviewLaneOptions {
  readonly name: string
  readonly start: () => ReviewProcess
  /** The process starts before the first review and stays. Otherwise it starts on demand and ends when idle. */
  readonly isStanding: boolean
  /** Limits of open reviews, including waiting ones, and of their bytes. */
  readonly maxReviews: number
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Logger
  /** Called for every process that ended unexpectedly. */
  readonly onFailure?: (reason: 'budget' | 'ended') => void
}

/** The review exceeded its work budget. */
export class BudgetExceeded extends Error {}

interface Job {
  readonly message: ReviewMessage
  readonly budgetMs: number
  readonly signal: AbortSignal
  readonly reply: PromiseWithResolvers<ReviewReply>
}

export class ReviewLane {
  readonly #options: ReviewLaneOptions
  readonly #jobs: Job[] = []
  readonly #stop = new AbortController()
  /** The process that takes the next review, possibly still starting. */
  #process: Promise<ReviewProcess> | undefined
  #ready: ReviewProcess | undefined
  #isWorking = false
  #openReviews = 0
  #openBytes = 0
  #hasStarted = false
  #startFailure: unknown

  constructor(options: ReviewLaneOptions) {
    this.#options = options
  }

  /** Reserves a slot for a review; the caller releases it after the response. Throws `Overloaded`. */
  enter(bytes: number): () => void {
    const { maxReviews, maxBytes } = this.#options
    if (this.#openReviews + 1 > maxReviews || this.#openBytes + bytes > maxBytes)
      throw new Overloaded('too many admission requests are waiting')
    this.#openReviews += 1
    this.#openBytes += bytes
    return () => {
      this.#openReviews -= 1
      this.#openBytes -= bytes
      this.#endIfIdle()
    }
  }

  /**
   * Rejects with `BudgetExceeded`, or with `ReviewProcessEnded` if the review ended its process. A review whose
   * signal is aborted leaves the queue. One that is being processed is not interrupted, so that clients cannot end
   * processes.
   */
  run(message: ReviewMessage, budgetMs: number, signal: AbortSignal): Promise<ReviewReply> {
    const job: Job = { message, budgetMs, signal, reply: Promise.withResolvers() }
    if (signal.aborted) job.reply.reject(signal.reason)
    else signal.addEventListener('abort', () => job.reply.reject(signal.reason), { once: true })
    this.#jobs.push(job)
    if (!this.#isWorking) void this.#work()
    return job.reply.promise
  }

  /** Starts a standing process. Resolves when it is ready; failures are logged and retried. */
  async start(): Promise<void> {
    if (this.#options.isStanding) await this.#current()
  }

  stop(): void {
    this.#stop.abort(new Error('admission is stopping'))
    void this.#process?.then(process => process.kill()).catch(() => {})
  }

  /** Throws a sentence while no review can be decided. The replacement of a process is not a reason. */
  check(): void {
    if (this.#startFailure) throw new Error(`the admission process cannot start: ${this.#startFailure}`)
    if (this.#options.isStanding && !this.#hasStarted)
      throw new Error('the admission process has not started yet')
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) {
      if (job.signal.aborted) continue
      try {
        const process = await this.#current()
        if (!job.signal.aborted) job.reply.resolve(await this.#runIn(process, job))
      } catch (error) {
        job.reply.reject(error)
      }
    }
    this.#isWorking = false
    this.#endIfIdle()
  }

  async #runIn(process: ReviewProcess, { message, budgetMs }: Job): Promise<ReviewReply> {
    const { clock, log, onFailure, name } = this.#options
    let isOverBudget = false
    const timer = clock.setTimeout(() => {
      isOverBudget = true
      process.kill()
    }, budgetMs)
    try {
      return await process.run(message)
    } catch (error) {
      if (!(error instanceof ReviewProcessEnded)) throw error
      const fields = { lane: name, path: message.path, bytes: message.body.length }
      onFailure?.(isOverBudget ? 'budget' : 'ended')
      if (!isOverBudget) {
        log.error('Admission process ended while it decided a request', { ...fields, error: error.message })
        throw error
      }
      log.warn('Admission request exceeded its work budget, admission process replaced', {
        ...fields,
        budgetMs,
      })
      throw new BudgetExceeded(`no decision within ${budgetMs} ms of work`)
    } finally {
      timer.cancel()
    }
  }

  #current(): Promise<ReviewProcess> {
    if (this.#ready?.hasEnded) this.#forget()
    this.#process ??= this.#launch()
    return this.#process
  }

  #forget(): void {
    this.#process = undefined
    this.#ready = undefined
  }

  async #launch(): Promise<ReviewProcess> {
    const { start, clock, log, name, isStanding } = this.#options
    for (;;) {
      this.#stop.signal.throwIfAborted()
      const process = start()
      try {
        await process.ready
      } catch (error) {
        this.#startFailure = error
        log.error('Admission process cannot start, retrying', {
          lane: name,
          error,
          retryInMs: restartDelayMs,
        })
        await clock.sleep(restartDelayMs, this.#stop.signal)
        continue
      }
      this.#startFailure = undefined
      this.#hasStarted = true
      this.#ready = process
      // A standing process is replaced at once, so that the next review need not wait for it.
      if (isStanding) void process.ended.then(() => this.#current()).catch(() => {})
      return process
    }
  }

  #endIfIdle(): void {
    if (this.#options.isStanding || this.#openReviews > 0 || this.#isWorking) return
    const idle = this.#process
    this.#forget()
    void idle?.then(process => process.kill()).catch(() => {})
  }
}
