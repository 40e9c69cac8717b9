// SPDX-License-Identifier: Apache-2.0

import { messageOf } from '@grove/kube'
import type { ServerContext } from './context.ts'
import { handleDiscovery } from './discovery.ts'
import { handleHealth } from './health.ts'
import type { ApiRequest, ApiResponse } from './request.ts'
import { parseRequestInfo, type RequestInfo, selectedName } from './request-info.ts'
import type { ResourceCall, SubresourceHandler } from './resource-call.ts'
import * as verbs from './resource-verbs.ts'
import { statusResponse } from './response.ts'
import { ApiError, apiError } from './status.ts'

export interface ApiServerOptions {
  readonly context: ServerContext
  /**
   * By `plural.group/subresource`, `plural/subresource` for the core group, or `*` + `/subresource` for all
   * kinds.
   */
  readonly subresources: ReadonlyMap<string, SubresourceHandler>
  /**
   * Paths outside the resource API: OpenAPI, metrics. A route returns undefined for paths it does not serve.
   */
  readonly routes: readonly ((
    request: ApiRequest,
  ) => ApiResponse | undefined | Promise<ApiResponse | undefined>)[]
  /** Called for errors that cause a response with code 500. Such an error is a bug. */
  readonly onInternalError: (error: unknown, request: ApiRequest) => void
}

/** Maps a request value to a response value. Never throws. */
export class ApiServer {
  readonly context: ServerContext
  readonly #options: ApiServerOptions

  constructor(options: ApiServerOptions) {
    this.context = options.context
    this.#options = options
  }

  readonly handle = async (request: ApiRequest): Promise<ApiResponse> => {
    try {
      return await this.#handle(request)
    } catch (error) {
      if (error instanceof ApiError) return statusResponse(error.status)
      this.#options.onInternalError(error, request)
      return statusResponse(apiError.internal(messageOf(error)).status)
    }
  }

  async #handle(request: ApiRequest): Promise<ApiResponse> {
    const info = parseRequestInfo(request.method, request.path, request.query)
    await this.#authorize(request, info)
    if (info) {
      const response = await this.#handleResource(request, info)
      if (response) return response
    }
    for (const route of this.#options.routes) {
      const response = await route(request)
      if (response) return response
    }
    return handleHealth(request) ?? handleDiscovery(this.context.registry, request) ?? pageNotFound()
  }

  async #authorize(request: ApiRequest, info: RequestInfo | undefined): Promise<void> {
    const { user, method, path } = request
    const name = info ? info.name || selectedName(info, request.query) : ''
    const rejection = await this.context.authorize({
      user,
      verb: info?.verb ?? method.toLowerCase(),
      isResource: info !== undefined,
      group: info?.group ?? '',
      version: info?.version ?? '',
      resource: info?.resource ?? '',
      subresource: info?.subresource ?? '',
      namespace: info?.namespace ?? '',
      name,
      path,
    })
    if (rejection === undefined) return
    throw apiError.forbidden({ group: info?.group ?? '', plural: info?.resource ?? '' }, name, rejection)
  }

  /** Returns undefined if no kind of that group and version is served. */
  #handleResource(request: ApiRequest, info: RequestInfo): ApiResponse | Promise<ApiResponse> | undefined {
    const { registry } = this.context
    const resource = registry.find(info.group, info.version, info.resource)
    if (!resource) {
      // The real API server returns different 404 responses: built-in versions own all paths below them,
      // custom groups do not.
      if (info.group === '' || registry.hasBuiltInVersion(info.group, info.version))
        throw apiError.resourceNotFound()
      return undefined
    }
    const call: ResourceCall = { context: this.context, request, info, resource }
    if (info.subresource) return this.#handleSubresource(call)
    if (!resource.verbs.includes(info.verb)) throw apiError.methodNotAllowed()
    // No path below a namespaced resource names an object without a namespace.
    if (needsNamespace(call)) throw info.name ? apiError.resourceNotFound() : apiError.methodNotAllowed()
    if (!resource.namespaced && info.namespace) throw apiError.resourceNotFound()
    switch (info.verb) {
      case 'get':
        return verbs.get(call)
      case 'list':
        return verbs.list(call)
      case 'watch':
        return verbs.watch(call)
      case 'create':
        if (info.name) throw apiError.methodNotAllowed()
        return verbs.create(call)
      case 'update':
        if (!info.name) throw apiError.methodNotAllowed()
        return verbs.update(call)
      case 'patch':
        if (!info.name) throw apiError.methodNotAllowed()
        return verbs.patch(call)
      case 'delete':
        return verbs.remove(call)
      case 'deletecollection':
        return verbs.removeCollection(call)
    }
  }

  #handleSubresource(call: ResourceCall): Promise<ApiResponse> {
    const { resource, info } = call
    const declared = resource.subresources.get(info.subresource)
    if (!declared || !info.name) throw apiError.resourceNotFound()
    if (!declared.verbs.includes(info.verb)) throw apiError.methodNotAllowed()
    const name = resource.group ? `${resource.plural}.${resource.group}` : resource.plural
    const handler =
      this.#options.subresources.get(`${name}/${info.subresource}`) ??
      this.#options.subresources.get(`*/${info.subresource}`)
    if (!handler) throw apiError.resourceNotFound()
    return handler(call)
  }
}

/** Namespaced objects can be listed and watched across all namespaces. Other verbs need a namespace. */
function needsNamespace({ resource, info }: ResourceCall): boolean {
  return resource.namespaced && !info.namespace && info.verb !== 'list' && info.verb !== 'watch'
}

function pageNotFound(): ApiResponse {
  return {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: '404 page not found\n',
  }
}
