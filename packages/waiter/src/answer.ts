// SPDX-License-Identifier: Apache-2.0

// Reading what an API server answers.
import type { TransportStream } from './transport.ts'

/** The server answered, but not with what was asked for. */
export class RefusedAnswer extends Error {
  override readonly name = 'RefusedAnswer'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(`${status} ${message}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }

  /** The resource version, or the page, is no longer known; only a new list helps. */
  get gone(): boolean {
    return this.status === 410
  }
}

/** A Status object of the API. */
export interface StatusObject {
  readonly code?: number
  readonly message?: string
  readonly reason?: string
}

/** Enough for any message; a proxy's page of HTML is not wanted in full. */
const longestMessage = 300

export async function refusal(answer: TransportStream): Promise<RefusedAnswer> {
  const text = await textOf(answer.body).catch(() => '')
  return new RefusedAnswer(answer.status, messageIn(text), retryAfterOf(answer.headers['retry-after']))
}

function messageIn(text: string): string {
  try {
    const { message, reason } = JSON.parse(text) as StatusObject
    return (message || reason || '').slice(0, longestMessage)
  } catch {
    return text.replaceAll(/\s+/g, ' ').trim().slice(0, longestMessage)
  }
}

/** Only seconds, which is what Kubernetes sends; a date falls back to our own patience. */
function retryAfterOf(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) * 1_000 : undefined
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** Complete lines only: what follows the last line break was cut off and means nothing. */
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
