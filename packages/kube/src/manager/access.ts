// SPDX-License-Identifier: Apache-2.0

// Access to the metrics: the API server must authenticate the client (TokenReview) and authorize it for that path
// (SubjectAccessReview).
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Client } from '../client/client.ts'
import type { Clock } from '../clock/index.ts'
import { type EndpointResponse, text } from './endpoint.ts'

export interface ApiUser {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Authentication and authorization by the API server. */
export interface Reviewer {
  /** Returns the user of a token; undefined if the token is invalid. */
  authenticate(token: string): Promise<ApiUser | undefined>
  authorize(user: ApiUser, verb: string, path: string): Promise<boolean>
}

export function reviewerOf(client: Pick<Client, 'raw'>): Reviewer {
  const review = async (path: string, body: object): Promise<unknown> => {
    const { status } = (await client.raw({
      verb: 'create',
      method: 'POST',
      path,
      body,
      idempotent: true,
    })) as {
      status?: unknown
    }
    return status
  }
  return {
    authenticate: async token => {
      const status = (await review('/apis/authentication.k8s.io/v1/tokenreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token },
      })) as { authenticated?: boolean; user?: ApiUser } | undefined
      return status?.authenticated ? status.user : undefined
    },
    authorize: async (user, verb, path) => {
      const { username, uid, groups, extra } = user
      const status = (await review('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: username, uid, groups, extra, nonResourceAttributes: { verb, path } },
      })) as { allowed?: boolean } | undefined
      return status?.allowed ?? false
    },
  }
}

/** The time for which a result is cached, as in Kubernetes' own components. */
const userMs = 60_000
const allowedMs = 300_000
const deniedMs = 30_000
const maxCachedResults = 1_000
/** Concurrent requests to the API server. Each unknown token costs one, and any client can send them. */
const maxConcurrentReviews = 10

const busy = Symbol('too many reviews')
const tooMany = text(429, 'Too many requests\n')

/** Undefined allows the request; otherwise the result is its response. */
export type AccessCheck = (request: IncomingMessage, url: URL) => Promise<EndpointResponse | undefined>

export function reviewedAccess(reviewer: Reviewer, clock: Clock): AccessCheck {
  const users = new ReviewCache<ApiUser | undefined>(clock)
  const decisions = new ReviewCache<boolean>(clock)
  let running = 0
  const bounded = async <T>(request: () => Promise<T>): Promise<T | typeof busy> => {
    if (running >= maxConcurrentReviews) return busy
    running++
    try {
      return await request()
    } finally {
      running--
    }
  }
  return async (request, url) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (!token) return text(401, 'Unauthorized\n')
    const digest = createHash('sha256').update(token).digest('base64')
    const user = await users.get(
      digest,
      () => bounded(() => reviewer.authenticate(token)),
      found => (found ? userMs : deniedMs),
    )
    if (user === busy) return tooMany
    if (!user) return text(401, 'Unauthorized\n')
    const verb = (request.method ?? 'GET').toLowerCase()
    const allowed = await decisions.get(
      JSON.stringify([user, verb, url.pathname]),
      () => bounded(() => reviewer.authorize(user, verb, url.pathname)),
      verdict => (verdict ? allowedMs : deniedMs),
    )
    if (allowed === busy) return tooMany
    return allowed ? undefined : text(403, `Authorization denied for user ${user.username}\n`)
  }
}

/**
 * Results that are cached for a while; the oldest are dropped at a limit. Failures are not cached. Concurrent
 * requests for the same result share one review.
 */
class ReviewCache<Result> {
  readonly #clock: Clock
  readonly #cached = new Map<string, { readonly result: Result; readonly until: number }>()
  readonly #pending = new Map<string, Promise<Result | typeof busy>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(
    key: string,
    request: () => Promise<Result | typeof busy>,
    keepMs: (result: Result) => number,
  ): Promise<Result | typeof busy> {
    const cached = this.#cached.get(key)
    if (cached && this.#clock.monotonic() < cached.until) return cached.result
    const pending = this.#pending.get(key)
    if (pending) return pending
    const review = this.#review(key, request, keepMs).finally(() => this.#pending.delete(key))
    this.#pending.set(key, review)
    return review
  }

  async #review(
    key: string,
    request: () => Promise<Result | typeof busy>,
    keepMs: (result: Result) => number,
  ): Promise<Result | typeof busy> {
    const result = await request()
    if (result === busy) return busy
    this.#cached.delete(key)
    this.#cached.set(key, { result: result, until: this.#clock.monotonic() + keepMs(result) })
    if (this.#cached.size > maxCachedResults) this.#cached.delete(this.#cached.keys().next().value!)
    return result
  }
}
