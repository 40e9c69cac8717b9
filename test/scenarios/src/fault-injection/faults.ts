// SPDX-License-Identifier: Apache-2.0

// What is wrong with the way between an operator and its API server, as a seed decides it: writes are
// rejected, before or after they were carried out, and what happens is heard of late.

export interface OperatorRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
}

export interface Rejection {
  readonly status: number
  readonly reason: string
  /** The server has done what was asked; only its answer is lost. */
  readonly isCarriedOut: boolean
}

/** Nobody answers with a conflict after having done what was asked. */
const rejections: readonly Rejection[] = [
  { status: 409, reason: 'Conflict', isCarriedOut: false },
  ...[false, true].flatMap(isCarriedOut => [
    { status: 500, reason: 'InternalError', isCarriedOut },
    { status: 503, reason: 'ServiceUnavailable', isCarriedOut },
  ]),
]
/** Things that an operator keeps for itself. */
const aside = /\/(events|leases)\b/

interface Awaited {
  left: number
  readonly done: () => void
}

export class Faults {
  /** One write in so many is rejected; 0: none. */
  rejectOneIn = 0
  /** By how many milliseconds news are late, at most. */
  lateMs = 0
  /** Asked before every deletion, as long as it takes. */
  onDeletion: (request: OperatorRequest) => Promise<void> = async () => {}
  /** What the operator asked for, and what was rejected of it. */
  readonly writes: string[] = []
  readonly #below: (limit: number) => number
  #awaited: Awaited[] = []

  constructor(below: (limit: number) => number) {
    this.#below = below
  }

  /** When the operator has begun so many further writes; when it has none left to make, after a while. */
  async afterWrites(count: number, atMostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, atMostMs)
    this.#awaited.push({ left: count, done: resolve })
    await promise
    clearTimeout(timer)
  }

  /** What becomes of a request; undefined: it is answered as anywhere. */
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

  /** How late the next piece of news is. */
  lateness(): number {
    return this.#below(this.lateMs + 1)
  }
}
