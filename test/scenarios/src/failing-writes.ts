// SPDX-License-Identifier: Apache-2.0

import { type Transport, TransportError, type TransportRequest } from '@grove/kube'

/** `lost`: the server executes the request, and the client gets no response. */
export type Outcome = 403 | 409 | 500 | 504 | 'lost'

/** Returns the failure that replaces the response, or undefined to let the request through. */
export type Fault = (request: TransportRequest, nth: number) => Outcome | undefined

const reasons = { 403: 'Forbidden', 409: 'Conflict', 500: 'InternalError', 504: 'Timeout' } as const

/** A transport whose writes fail as `fault` determines. It records every write in `requests`. */
export function faulty(inner: Transport, fault: () => Fault | undefined, requests: string[]): Transport {
  let nth = 0
  return {
    ...inner,
    stream: request => inner.stream(request),
    async request(request) {
      if (request.method === 'GET') return inner.request(request)
      requests.push(`${request.method} ${request.path}`)
      const outcome = fault()?.(request, ++nth)
      if (outcome === 'lost') {
        await inner.request(request)
        throw new TransportError('network', true, 'the response was lost')
      }
      if (outcome === undefined) return inner.request(request)
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: outcome,
        reason: reasons[outcome],
        message:
          outcome === 403 ? 'exceeded quota: team, requested: pods=1, used: pods=5, limited: pods=5' : 'no',
      }
      return { status: outcome, headers: {}, body: JSON.stringify(status) }
    },
  }
}
