// SPDX-License-Identifier: Apache-2.0

import type { Resource } from '../registry/resource.ts'
import type { ServerContext } from './context.ts'
import { mediaTypeOf, negotiate } from './media-type.ts'
import { parseWriteOptions, type WriteOptions } from './options.ts'
import type { ApiRequest, ApiResponse } from './request.ts'
import type { RequestInfo } from './request-info.ts'
import { Presenter } from './response.ts'
import { WriteRequest } from './write-request.ts'

/** One request to one resource, with everything a handler needs. */
export interface ResourceCall {
  readonly context: ServerContext
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly resource: Resource
}

/** Handles one subresource of some kinds. */
export type SubresourceHandler = (call: ResourceCall) => Promise<ApiResponse>

export function presenterOf(
  { context, request, resource }: ResourceCall,
  as: Resource = resource,
): Presenter {
  return new Presenter(as, negotiate(request.headers.accept), request.query, () => context.clock.now())
}

const optionKinds = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' } as const

export function writeRequestOf(call: ResourceCall): WriteRequest {
  const { request, info, resource } = call
  const kind = optionKinds[info.verb as keyof typeof optionKinds] ?? 'CreateOptions'
  return withOptions(
    call,
    parseWriteOptions(request.query, kind, {
      userAgent: request.headers['user-agent'] ?? '',
      type: mediaTypeOf(request.headers['content-type']),
    }),
    resource,
  )
}

export function withOptions(
  { request, info }: ResourceCall,
  options: WriteOptions,
  resource: Resource,
): WriteRequest {
  return new WriteRequest({
    resource,
    namespace: info.namespace,
    name: info.name,
    subresource: info.subresource,
    user: request.user,
    options,
  })
}
