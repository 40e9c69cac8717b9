// SPDX-License-Identifier: Apache-2.0

import { type Transport, TransportError, type TransportResponse } from '@grove/kube'
import type { Faults, Rejection } from './faults.ts'

/** While the gate is closed, it blocks requests and watch events. */
export class Gate {
  #closed: PromiseWithResolvers<void> | undefined

  close(): void {
    this.#closed ??= Promise.withResolvers()
  }

  open(): void {
    this.#closed?.resolve()
    this.#closed = undefined
  }

  async opened(): Promise<void> {
    await this.#closed?.promise
  }
}

/**
 * A transport to a cluster in this process that injects faults. While the gate is closed, the operator neither reads
 * nor writes.
 */
export function faultyTransport(inner: Transport, faults: Faults, gate: Gate): Transport {
  return {
    async request(request) {
      await gate.opened()
      const rejection = await faults.outcomeOf(request)
      // The operator was killed while the request waited.
      if (request.signal?.aborted) throw new TransportError('aborted', false, 'the request was aborted')
      if (rejection && !rejection.isCarriedOut) return rejected(rejection)
      const response = await inner.request(request)
      await gate.opened()
      return rejection ? rejected(rejection) : response
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
    await gate.opened()
    yield chunk
  }
}

function rejected({ status, reason }: Rejection): TransportResponse {
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
