// SPDX-License-Identifier: Apache-2.0

import { deleteBody, namespaceOf, patchBody, refOf, serialize } from './body.ts'
import type { Client, Deletion, RawRequest } from './client.ts'
import { isKubeError, type KubeError } from './error.ts'
import { createGenerated } from './generated-create.ts'
import { wantsGeneratedName } from './generated-name.ts'
import type { ResponseShape } from './managed-fields.ts'
import type { KubeObject, ObjectList, ObjectPage, ObjectRef, Stored } from './object.ts'
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PageOptions,
  Patch,
  PatchOptions,
  RequestOptions,
  ResponseOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import { applyQuery, deleteCollectionQuery, getQuery, pageQuery, watchQuery, writeQuery } from './query.ts'
import type { Call, Requester } from './requester.ts'
import { collectionPath, objectPath, type Resource, resourceName } from './resource.ts'
import { checkedList, parseResponse, toDeletion, toPage } from './response.ts'
import { readWatch, type WatchEvent } from './watch.ts'

/** Objects per page of a list, as in client-go. Larger pages block both sides longer, smaller ones cost round trips. */
const defaultPageSize = 500

/** The server sends a bookmark every minute. After two and a half minutes of silence the connection is dead. */
const defaultIdleTimeoutMs = 150_000

export interface ApiClientOptions {
  readonly requester: Requester
  readonly fieldManager: string | undefined
  readonly managedFields: boolean
  readonly random: () => number
  close(): Promise<void>
}

/**
 * Implements the verbs of the API: paths, queries, bodies and the meaning of responses. See Client for the promises.
 */
export class ApiClient implements Client {
  readonly #requester: Requester
  readonly #options: ApiClientOptions

  constructor(options: ApiClientOptions) {
    this.#requester = options.requester
    this.#options = options
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: GetOptions = {},
  ): Promise<Stored<T>> {
    const path = objectPath(resource, ref) + getQuery(options.resourceVersion)
    return this.#json(call('get', 'GET', path, resource, true), options)
  }

  async find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: GetOptions = {},
  ): Promise<Stored<T> | undefined> {
    try {
      return await this.get(resource, ref, options)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async page<T extends KubeObject>(resource: Resource<T>, options: PageOptions = {}): Promise<ObjectPage<T>> {
    const path = collectionPath(resource, options.namespace) + pageQuery(options)
    const request = call('list', 'GET', path, resource, true)
    return toPage(resource, checkedList(request, await this.#json(request, options, 'list')))
  }

  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ObjectPage<T>> {
    let next: string | undefined
    do {
      const page: ObjectPage<T> = await this.page(resource, {
        ...options,
        limit: options.limit ?? defaultPageSize,
        continue: next,
      })
      yield page
      next = page.continue
    } while (next !== undefined)
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const items: Stored<T>[] = []
    let resourceVersion = ''
    try {
      for await (const page of this.pages(resource, options)) {
        for (const item of page.items) items.push(item)
        resourceVersion = page.resourceVersion
      }
    } catch (error) {
      // The server dropped the snapshot between two pages. A list in one response needs no history.
      if (items.length === 0 || !isKubeError(error, 'Gone')) throw error
      return this.page(resource, { ...options, limit: 0 })
    }
    return { items, resourceVersion }
  }

  async watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const path = collectionPath(resource, options.namespace) + watchQuery(options)
    const request = { ...call('watch', 'GET', path, resource, true), accept: options.accept }
    const idleTimeoutMs = options.idleTimeoutMs ?? defaultIdleTimeoutMs
    const stream = await this.#requester.stream(request, idleTimeoutMs, options.signal)
    await readWatch(stream, request, onEvent, this.#wantsManagedFields(options), options.known)
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    if (!wantsGeneratedName(object)) return this.#create(resource, object, options)
    const { signal, timeoutMs, urgent } = options
    return createGenerated(object, {
      random: this.#options.random,
      send: (named, onRepeat) => this.#create(resource, named, options, onRepeat),
      find: named => this.find(resource, refOf(named), { signal, timeoutMs, urgent }),
      pause: attempt => this.#requester.pause(attempt, signal),
    })
  }

  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: UpdateOptions = {},
  ): Promise<Stored<T>> {
    const path = objectPath(resource, refOf(object), options.subresource)
    const request = call('update', 'PUT', path + this.#writeQuery(options), resource, true, options)
    return this.#json({ ...request, body: serialize(resource, object) }, options)
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<Stored<T>> {
    const [contentType, body, idempotent] = patchBody(patch)
    const path = objectPath(resource, ref, options.subresource) + this.#writeQuery(options)
    const request = call('patch', 'PATCH', path, resource, idempotent, options)
    return this.#json({ ...request, contentType, body: JSON.stringify(body) }, options)
  }

  async apply<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: ApplyOptions,
  ): Promise<Stored<T>> {
    const path = objectPath(resource, refOf(object), options.subresource) + applyQuery(options)
    const request = call('apply', 'PATCH', path, resource, true, options)
    const contentType = 'application/apply-patch+yaml'
    return this.#json({ ...request, contentType, body: serialize(resource, object) }, options)
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<Deletion<T>> {
    // Without a UID, a repeated delete could hit a new object of the same name.
    const idempotent = options.preconditions?.uid !== undefined
    const request = call('delete', 'DELETE', objectPath(resource, ref), resource, idempotent)
    return toDeletion(await this.#json<T>({ ...request, body: deleteBody(options) }, options))
  }

  async deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: DeleteCollectionOptions = {},
  ): Promise<ObjectList<T>> {
    const path = collectionPath(resource, options.namespace) + deleteCollectionQuery(options)
    const request = { ...call('deletecollection', 'DELETE', path, resource, false), once: true }
    return toPage(resource, await this.#json({ ...request, body: deleteBody(options) }, options, 'list'))
  }

  async raw(request: RawRequest, options: RequestOptions = {}): Promise<unknown> {
    const { verb, method, path, contentType, accept } = request
    const response = await this.#requester.send(
      {
        verb,
        method,
        path,
        contentType,
        accept,
        resource: request.resource ?? '',
        idempotent: request.idempotent ?? method === 'GET',
        body: request.body === undefined ? undefined : JSON.stringify(request.body),
      },
      options,
    )
    const text = response.toString()
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }

  close(): Promise<void> {
    return this.#options.close()
  }

  #create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions,
    onRepeat?: (error: KubeError) => void,
  ): Promise<Stored<T>> {
    const path = collectionPath(resource, namespaceOf(resource, object)) + this.#writeQuery(options)
    const request = call('create', 'POST', path, resource, onRepeat !== undefined)
    return this.#json({ ...request, body: serialize(resource, object), onRepeat }, options)
  }

  async #json<T extends KubeObject>(
    request: Call,
    options: RequestOptions,
    shape: ResponseShape = 'object',
  ): Promise<Stored<T>> {
    const response = await this.#requester.send(request, options)
    return parseResponse(request, response, this.#wantsManagedFields(options) ? undefined : shape)
  }

  #wantsManagedFields(options: ResponseOptions): boolean {
    return options.managedFields ?? this.#options.managedFields
  }

  #writeQuery(options: WriteOptions): string {
    return writeQuery(options, this.#options.fieldManager)
  }
}

function call(
  verb: string,
  method: Call['method'],
  path: string,
  resource: Resource,
  idempotent: boolean,
  options?: { readonly subresource?: string },
): Call {
  const name = resourceName(resource)
  return {
    verb,
    method,
    path,
    resource: options?.subresource ? `${name}/${options.subresource}` : name,
    idempotent,
  }
}
