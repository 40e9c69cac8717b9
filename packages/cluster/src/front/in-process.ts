// SPDX-License-Identifier: Apache-2.0

import { type Transport, TransportError, type TransportHeaders, type TransportRequest } from '@grove/kube'
import type { ApiRequest, ApiResponse, UserInfo } from '../server/request.ts'

/** The default user of in-process requests: an administrator. */
export const adminUser: UserInfo = {
  name: 'system:admin',
  groups: ['system:masters', 'system:authenticated'],
}

/** A client transport to a cluster in the same process, by function calls instead of sockets. */
export function inProcessTransport(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  user: UserInfo = adminUser,
): Transport {
  let closed = false
  const send = async (request: TransportRequest): Promise<ApiResponse> => {
    if (closed) throw new TransportError('network', false, 'the cluster is closed')
    if (request.signal?.aborted) throw new TransportError('aborted', false, 'aborted')
    return handle(toApiRequest(request, user))
  }
  return {
    async request(request) {
      const response = await send(request)
      return {
        status: response.status,
        headers: response.headers as TransportHeaders,
        body: response.body ?? (await collect(response)),
      }
    },
    async stream(request) {
      const response = await send(request)
      return { status: response.status, headers: response.headers as TransportHeaders, body: bytes(response) }
    },
    async close() {
      closed = true
    },
  }
}

function toApiRequest(request: TransportRequest, user: UserInfo): ApiRequest {
  const question = request.path.indexOf('?')
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(',')
  return {
    method: request.method,
    path: decodeURIComponent(question < 0 ? request.path : request.path.slice(0, question)),
    query: new URLSearchParams(question < 0 ? '' : request.path.slice(question + 1)),
    headers,
    body: request.body,
    user,
    signal: request.signal,
  }
}

async function collect({ bytes, stream }: ApiResponse): Promise<string> {
  let text = bytes ? Buffer.from(bytes).toString('utf8') : ''
  for await (const chunk of stream ?? []) text += chunk
  return text
}

async function* bytes({ body, bytes: whole, stream }: ApiResponse): AsyncGenerator<Uint8Array> {
  if (whole) yield whole
  if (body !== undefined) yield Buffer.from(body)
  for await (const chunk of stream ?? []) yield Buffer.from(chunk)
}
