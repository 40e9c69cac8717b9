// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '../clock/index.ts'
import type { Credentials, HeaderValues } from './credentials.ts'
import { KubeError, type KubeErrorCode, type RequestDescription } from './error.ts'
import type { RequestOptions } from './options.ts'
import type { RequestLimiter } from './request-limiter.ts'
import { namespaceOfPath } from './resource.ts'
import { describe, responseError, transportError } from './response.ts'
import { backoffMs, type RetryPolicy, retryDelayMs } from './retry.ts'
import type {
  ResponseBody,
  Transport,
  TransportHeaders,
  TransportRequest,
  TransportStream,
} from './transport.ts'
import { parseWarnings } from './warning.ts'

/** Report of one HTTP request, for metrics. Each repetition is reported. */
export interface RequestReport extends RequestDescription {
  /** `pods`, `deployments.apps`, `pods/binding`; empty for other paths. */
  readonly resource: string
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly code: KubeErrorCode | 'OK'
  readonly seconds: number
}

export interface RequesterOptions {
  readonly transport: Transport
  readonly credentials: Credentials | undefined
  readonly limiter: RequestLimiter
  readonly clock: Clock
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly headers: Readonly<Record<string, string>>
  readonly random: () => number
  readonly onRequest: ((report: RequestReport) => void) | undefined
  readonly onWarning: ((text: string, request: RequestDescription) => void) | undefined
}

export interface Call extends RequestDescription {
  readonly method: TransportRequest['method']
  readonly resource: string
  readonly body?: string
  readonly contentType?: string
  readonly accept?: string
  /** Doing it twice equals doing it once. */
  readonly idempotent: boolean
  /** Never repeated, even if it was certainly not carried out: its target may change during the wait. */
  readonly once?: boolean
  /** Called with the error before each further attempt. */
  readonly onRepeat?: (error: KubeError) => void
}

/** Runs one call: slot, credentials, attempts. Does not interpret the content. */
export class Requester {
  readonly #options: RequesterOptions

  constructor(options: RequesterOptions) {
    this.#options = options
  }

  /** Returns the body of the response. */
  async send(call: Call, options: RequestOptions = {}): Promise<ResponseBody> {
    const { limiter, retry, clock, random } = this.#options
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(call, options)
      if (!(result instanceof KubeError)) return result
      if (result.code === 'Unauthorized' && !renewed && (await this.#renewCredentials(call, result))) {
        renewed = true
        attempt--
        continue
      }
      if (attempt >= (options.attempts ?? Number.POSITIVE_INFINITY)) throw result
      const delay = call.once ? undefined : retryDelayMs(result, attempt, call.idempotent, retry, random)
      if (result.code === 'TooManyRequests')
        limiter.slowDown((result.retryAfterSeconds ?? 0) * 1000 || (delay ?? 0))
      if (delay === undefined) throw result
      call.onRepeat?.(result)
      try {
        await clock.sleep(delay, options.signal)
      } catch {
        throw aborted(call, options.signal, result.sent)
      }
    }
  }

  /** Waits as before the given attempt. */
  async pause(attempt: number, signal?: AbortSignal): Promise<void> {
    const { clock, retry, random } = this.#options
    try {
      await clock.sleep(backoffMs(attempt, retry, random), signal)
    } catch {
      throw new KubeError({ code: 'Aborted', message: 'aborted while waiting', cause: signal?.reason })
    }
  }

  /**
   * Returns the response as it arrives, without retries and outside the in-flight limit, because streams are
   * long-lived.
   */
  async stream(call: Call, timeoutMs: number, signal?: AbortSignal): Promise<TransportStream> {
    const startedAt = this.#options.clock.monotonic()
    try {
      const request = await this.#build(call, timeoutMs, signal)
      const responseTimeoutMs = Math.min(timeoutMs, this.#options.timeoutMs)
      const stream = await this.#options.transport.stream({ ...request, responseTimeoutMs })
      this.#warn(call, stream.headers)
      if (stream.status < 300) {
        this.#report(call, startedAt, stream.status, 'OK')
        return stream
      }
      throw responseError(call, stream.status, stream.headers, await textOf(stream))
    } catch (cause) {
      const error = transportError(call, cause)
      this.#report(call, startedAt, error.status ?? 0, error.code)
      if (error.code === 'Unauthorized') await this.#renewCredentials(call, error)
      throw error
    }
  }

  async #attempt(call: Call, options: RequestOptions): Promise<ResponseBody | KubeError> {
    const { limiter, transport, clock } = this.#options
    const { signal, urgent, priority } = options
    if (signal?.aborted) throw aborted(call, signal, false)
    if (!urgent) {
      try {
        const turn = limiter.enter(signal, { owner: namespaceOfPath(call.path), priority })
        if (turn) await turn
      } catch {
        throw aborted(call, signal, false)
      }
    }
    const startedAt = clock.monotonic()
    let error: KubeError
    try {
      const request = this.#build(call, options.timeoutMs ?? this.#options.timeoutMs, signal)
      const response = await transport.request(request instanceof Promise ? await request : request)
      if (response.headers.warning !== undefined) this.#warn(call, response.headers)
      if (response.status < 300) {
        this.#report(call, startedAt, response.status, 'OK')
        return response.body
      }
      error = responseError(call, response.status, response.headers, response.body.toString())
    } catch (cause) {
      error = transportError(call, cause)
    } finally {
      if (!urgent) limiter.leave()
    }
    this.#report(call, startedAt, error.status ?? 0, error.code)
    return error
  }

  /** Synchronous if the credentials are available, which is the usual case. */
  #build(call: Call, timeoutMs: number, signal?: AbortSignal): TransportRequest | Promise<TransportRequest> {
    const { credentials } = this.#options
    const complete = (own?: HeaderValues): TransportRequest => {
      const headers: Record<string, string | readonly string[]> = { ...this.#options.headers, ...own }
      if (call.accept !== undefined) headers.accept = call.accept
      if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json'
      return { method: call.method, path: call.path, headers, body: call.body, timeoutMs, signal }
    }
    const own = credentials?.headers()
    return own instanceof Promise ? own.then(complete) : complete(own)
  }

  async #renewCredentials(call: Call, rejected: KubeError): Promise<boolean> {
    try {
      return (await this.#options.credentials?.handleUnauthorized()) ?? false
    } catch (cause) {
      throw new KubeError({
        code: 'Credentials',
        message: `the server rejected the credentials (${rejected.message}) and there are no others: ${String(cause)}`,
        request: describe(call),
        status: rejected.status,
        cause,
      })
    }
  }

  #report(call: Call, startedAt: number, status: number, code: KubeErrorCode | 'OK'): void {
    const { onRequest, clock } = this.#options
    if (!onRequest) return
    const seconds = (clock.monotonic() - startedAt) / 1000
    onRequest({ verb: call.verb, path: call.path, resource: call.resource, status, code, seconds })
  }

  #warn(call: Call, headers: TransportHeaders): void {
    const { onWarning } = this.#options
    if (onWarning) for (const text of parseWarnings(headers.warning)) onWarning(text, describe(call))
  }
}

function aborted(call: Call, signal: AbortSignal | undefined, sent: boolean): KubeError {
  return new KubeError({
    code: 'Aborted',
    message: `${call.verb} ${call.path} was aborted`,
    request: describe(call),
    sent,
    cause: signal?.reason,
  })
}

async function textOf(stream: TransportStream): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
