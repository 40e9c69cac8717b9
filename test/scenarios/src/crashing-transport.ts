// SPDX-License-Identifier: Apache-2.0

import { type Transport, TransportError } from '@grove/kube'

/**
 * A transport that fails permanently after a number of writes. `arrives` determines whether the last write reaches the
 * server.
 */
export function crashingTransport(
  inner: Transport,
  requests: number,
  arrives: boolean,
  onDeath: () => void,
): Transport {
  let left = requests
  const dead = () => new TransportError('network', true, 'the process is dead')
  const watches = new AbortController()
  return {
    async request(request) {
      if (left <= 0) throw dead()
      if (request.method !== 'GET' && --left === 0) {
        if (arrives) await inner.request(request)
        watches.abort()
        onDeath()
        throw dead()
      }
      return inner.request(request)
    },
    async stream(request) {
      if (left <= 0) throw dead()
      const signal = request.signal ? AbortSignal.any([request.signal, watches.signal]) : watches.signal
      return inner.stream({ ...request, signal })
    },
    close: () => inner.close(),
  }
}
