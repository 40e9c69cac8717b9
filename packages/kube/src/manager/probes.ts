// SPDX-License-Identifier: Apache-2.0

// `/healthz` and `/readyz` for kubelets and people. Each check runs on request; results are not cached.
import type { Clock } from '../clock/index.ts'
import { messageOf } from '../log/index.ts'
import { type EndpointResponse, text } from './endpoint.ts'

/** Resolves if healthy; rejects with a sentence about the problem. */
export type HealthCheck = () => void | Promise<void>

/** Longer than any probe waits. A check that takes longer has failed. */
const checkTimeoutMs = 10_000

/** The checks of one probe. Without any, `ping` stands for the process itself. */
export class Probe {
  readonly #path: string
  readonly #clock: Clock
  readonly #checks = new Map<string, HealthCheck>()

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  add(name: string, check: HealthCheck): void {
    if (this.#checks.has(name))
      throw new Error(`a check named ${name} for ${this.#path} is already registered`)
    this.#checks.set(name, check)
  }

  /**
   * Returns the response if the path belongs to this probe or one of its checks. A check of the name of the probe
   * (`/readyz/readyz`) stands for all checks if there is no other of that name, because many servers have only that one.
   */
  async respond(url: URL): Promise<EndpointResponse | undefined> {
    const path = url.pathname.replace(/\/+$/, '')
    if (path === this.#path) return this.#all(url)
    if (!path.startsWith(`${this.#path}/`)) return undefined
    const name = path.slice(this.#path.length + 1)
    const check = this.#effective().get(name)
    if (check) return described([await this.#run(check)])
    if (`/${name}` !== this.#path) return undefined
    return described(await Promise.all([...this.#effective().values()].map(each => this.#run(each))))
  }

  async #all(url: URL): Promise<EndpointResponse> {
    const excluded = new Set(url.searchParams.getAll('exclude'))
    const results = await Promise.all(
      [...this.#effective()].map(async ([name, check]) => {
        if (excluded.delete(name)) return { name, line: `[+]${name} excluded: ok`, failed: false }
        const failed = (await this.#run(check)) !== undefined
        // The reason is withheld, because this page is public.
        return { name, line: failed ? `[-]${name} failed: reason withheld` : `[+]${name} ok`, failed }
      }),
    )
    const failed = results.some(result => result.failed)
    if (!failed && !url.searchParams.has('verbose')) return text(200, 'ok')
    const lines = results.sort((a, b) => (a.name < b.name ? -1 : 1)).map(result => result.line)
    if (excluded.size > 0) {
      const names = [...excluded].map(name => JSON.stringify(name)).join(',')
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
    }
    lines.push(failed ? 'healthz check failed' : 'healthz check passed')
    return text(failed ? 500 : 200, `${lines.join('\n')}\n`)
  }

  #effective(): ReadonlyMap<string, HealthCheck> {
    return this.#checks.size > 0 ? this.#checks : new Map([['ping', () => {}]])
  }

  /** Returns the problem, or undefined. */
  async #run(check: HealthCheck): Promise<string | undefined> {
    const late = Promise.withResolvers<string>()
    const timer = this.#clock.setTimeout(() => late.resolve('the check did not end in time'), checkTimeoutMs)
    try {
      return await Promise.race([Promise.resolve(check()).then(() => undefined), late.promise])
    } catch (error) {
      return messageOf(error)
    } finally {
      timer.cancel()
    }
  }
}

/** The response of a single check contains its problem. */
function described(problems: readonly (string | undefined)[]): EndpointResponse {
  const found = problems.filter(problem => problem !== undefined)
  return found.length === 0 ? text(200, 'ok') : text(500, `internal server error: ${found.join('; ')}\n`)
}
