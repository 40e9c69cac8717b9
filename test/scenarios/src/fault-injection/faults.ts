// SPDX-License-Identifier: Apache-2.0

// Faults between an operator and its API server, chosen by a seed. Writes fail before or after the server executes
// them, and watch events are delayed.

export interface OperatorRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
}

export interface Rejection {
  readonly status: number
  readonly reason: string
  /** The server has executed the request; only its response is lost. */
  readonly isCarriedOut: boolean
}

/** A server never returns a conflict after it has executed the request. */
const rejections: readonly Rejection[] = [
  { status: 409, reason: 'Conflict', isCarriedOut: false },
  ...[false, true].flatMap(isCarriedOut => [
    { status: 500, reason: 'InternalError', isCarriedOut },
    { status: 503, reason: 'ServiceUnavailable', isCarriedOut },
  ]),
]
/** Requests that change no state of a set. */
const aside = /\/(events|leases)\b/

interface Awaited {
  left: number
  readonly done: () => void
}

export class Faults {
  /** Rejects one write in this number; 0 rejects none. */
  rejectOneIn = 0
  /** The longest delay of watch events in milliseconds. */
  lateMs = 0
  /** Called before every deletion, which waits for it. */
  onDeletion: (request: OperatorRequest) => Promise<void> = async () => {}
  /** Write requests of the operator and their rejections. */
  readonly writes: string[] = []
  readonly #below: (limit: number) => number
  #awaited: Awaited[] = []

  constructor(below: (limit: number) => number) {
    this.#below = below
  }

  /** Resolves after this number of further writes, or after `atMostMs` if the operator writes less. */
  async afterWrites(count: number, atMostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, atMostMs)
    this.#awaited.push({ left: count, done: resolve })
    await promise
    clearTimeout(timer)
  }

  /** Returns the rejection of a request, or undefined if the server handles it. */
  async outcomeOf(request: OperatorRequest): Promise<Rejection | undefined> {
    if (request.method === 'GET' || aside.test(request.path)) return undefined
    for (const one of this.#awaited) if (one.left-- <= 0) one.done()
    this.#awaited = this.#awaited.filter(({ left }) => left >= 0)
    const rejection =
      this.rejectOneIn > 0 && this.#below(this.rejectOneIn) === 0
        ? rejections[this.#below(rejections.length)]
        : undefined
    this.writes.push(`${request.method} ${request.path} ${rejection ? JSON.stringify(rejection) : ''}`)
    if (request.method === 'DELETE') await this.onDeletion(request)
    return rejection
  }

  /** Returns the delay of the next watch event. */
  lateness(): number {
    return this.#below(this.lateMs + 1)
  }
}
