// SPDX-License-Identifier: Apache-2.0

// Reads responses of the API server.
import type { TransportStream } from './transport.ts'

/** The server rejected the request, or the watch sent an ERROR event. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(`${status} ${message}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }

  /** The resourceVersion or the page has expired; only a new list helps. */
  get isExpired(): boolean {
    return this.status === 410
  }
}

/** A Status object of the API. */
export interface StatusObject {
  readonly code?: number
  readonly message?: string
  readonly reason?: string
}

/** Enough for any message, and a bound for the HTML page of a proxy. */
const maxMessageLength = 300

export async function readError(response: TransportStream): Promise<ResponseError> {
  const text = await textOf(response.body).catch(() => '')
  return new ResponseError(response.status, messageIn(text), retryAfterOf(response.headers['retry-after']))
}

function messageIn(text: string): string {
  try {
    const { message, reason } = JSON.parse(text) as StatusObject
    return (message || reason || '').slice(0, maxMessageLength)
  } catch {
    return text.replaceAll(/\s+/g, ' ').trim().slice(0, maxMessageLength)
  }
}

/** Accepts seconds only, as Kubernetes sends them. For a date the waiter uses its own back-off. */
function retryAfterOf(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) * 1_000 : undefined
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** Yields complete lines only. Bytes after the last line break are a truncated event and are dropped. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const chunk of body) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n')
    lines[0] = pending + lines[0]
    pending = lines.pop()!
    for (const line of lines) if (line !== '') yield line
  }
}
