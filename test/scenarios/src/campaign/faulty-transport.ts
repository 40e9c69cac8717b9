// SPDX-License-Identifier: Apache-2.0

import { type Transport, TransportError, type TransportResponse } from '@grove/kube'
import type { Faults, Refusal } from './faults.ts'

/** Holds everything back while somebody has closed it. */
export class Gate {
  #closed: PromiseWithResolvers<void> | undefined

  close(): void {
    this.#closed ??= Promise.withResolvers()
  }

  open(): void {
    this.#closed?.resolve()
    this.#closed = undefined
  }

  async pass(): Promise<void> {
    await this.#closed?.promise
  }
}

/**
 * A way to a cluster in this process with faults on it, and a gate behind which the operator sees and does
 * nothing.
 */
export function faultyTransport(inner: Transport, faults: Faults, gate: Gate): Transport {
  return {
    async request(request) {
      await gate.pass()
      const refusal = await faults.judge(request)
      // Whoever died meanwhile asks for nothing any more.
      if (request.signal?.aborted) throw new TransportError('aborted', false, 'the request was aborted')
      if (refusal && !refusal.isCarriedOut) return refused(refusal)
      const answer = await inner.request(request)
      await gate.pass()
      return refusal ? refused(refusal) : answer
    },
    async stream(request) {
      const stream = await inner.stream(request)
      return { ...stream, body: late(stream.body, faults, gate) }
    },
    close: () => inner.close(),
  }
}

async function* late(body: AsyncIterable<Uint8Array>, faults: Faults, gate: Gate): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    const ms = faults.lateness()
    if (ms > 0) await new Promise(resolve => setTimeout(resolve, ms))
    await gate.pass()
    yield chunk
  }
}

function refused({ status, reason }: Refusal): TransportResponse {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason,
    message: 'a fault',
  }
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
