// SPDX-License-Identifier: Apache-2.0

// Access to the metrics: the API server must authenticate the client (TokenReview) and authorize it for that path
// (SubjectAccessReview).
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Client } from '../client/client.ts'
import type { Clock } from '../clock/index.ts'
import { type EndpointAnswer, text } from './endpoint.ts'

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
const opinionsKept = 1_000
/** Concurrent requests to the API server. Each unknown token costs one, and any client can send them. */
const reviewsAtATime = 10

const busy = Symbol('too many reviews')
const tooMany = text(429, 'Too many requests\n')

/** Undefined allows the request; otherwise the result is its response. */
export type AccessCheck = (request: IncomingMessage, url: URL) => Promise<EndpointAnswer | undefined>

export function reviewedAccess(reviewer: Reviewer, clock: Clock): AccessCheck {
  const users = new Opinions<ApiUser | undefined>(clock)
  const verdicts = new Opinions<boolean>(clock)
  let underWay = 0
  const bounded = async <T>(ask: () => Promise<T>): Promise<T | typeof busy> => {
    if (underWay >= reviewsAtATime) return busy
    underWay++
    try {
      return await ask()
    } finally {
      underWay--
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
    const passes = await verdicts.get(
      JSON.stringify([user, verb, url.pathname]),
      () => bounded(() => reviewer.authorize(user, verb, url.pathname)),
      verdict => (verdict ? allowedMs : deniedMs),
    )
    if (passes === busy) return tooMany
    return passes ? undefined : text(403, `Authorization denied for user ${user.username}\n`)
  }
}

/**
 * Results that are cached for a while; the oldest are dropped at a limit. Failures are not cached. Concurrent
 * requests for the same result share one review.
 */
class Opinions<Opinion> {
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly opinion: Opinion; readonly until: number }>()
  readonly #asked = new Map<string, Promise<Opinion | typeof busy>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(
    key: string,
    ask: () => Promise<Opinion | typeof busy>,
    keepMs: (opinion: Opinion) => number,
  ): Promise<Opinion | typeof busy> {
    const known = this.#known.get(key)
    if (known && this.#clock.monotonic() < known.until) return known.opinion
    const asked = this.#asked.get(key)
    if (asked) return asked
    const asking = this.#ask(key, ask, keepMs).finally(() => this.#asked.delete(key))
    this.#asked.set(key, asking)
    return asking
  }

  async #ask(
    key: string,
    ask: () => Promise<Opinion | typeof busy>,
    keepMs: (opinion: Opinion) => number,
  ): Promise<Opinion | typeof busy> {
    const opinion = await ask()
    if (opinion === busy) return busy
    this.#known.delete(key)
    this.#known.set(key, { opinion, until: this.#clock.monotonic() + keepMs(opinion) })
    if (this.#known.size > opinionsKept) this.#known.delete(this.#known.keys().next().value!)
    return opinion
  }
}
