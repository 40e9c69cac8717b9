// SPDX-License-Identifier: Apache-2.0

import {
  apiVersionOf,
  type Client,
  type DeleteOptions,
  type Deletion,
  isKubeError,
  type KubeObject,
  type ObjectRef,
  type Resource,
  type ResourceDescriptor,
  type Stored,
} from '../client/index.ts'
import { isLastState } from '../client/response.ts'

/** The part of a cache that a cached client needs. WatchCache implements it. */
export interface WriteRecorder<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  get(ref: ObjectRef): Stored | undefined
  recordWrite(object: Stored<T>): void
  recordDeleted(ref: ObjectRef, uid: string): void
  recordTerminating(ref: ObjectRef, uid: string): void
}

export interface CachedClient extends Client {
  /** From now on, writes of this cache's resource are visible in the cache when their promise resolves. */
  attach<T extends KubeObject>(cache: WriteRecorder<T>): void
}

/**
 * A client whose writes are visible in the attached caches as soon as their promise resolves, before any watch event.
 * Reads go to the server; read the cache directly to use it. Writes under another API version than the cache's, `raw`
 * requests and dry runs are not recorded in the cache.
 */
export function createCachedClient(client: Client, caches: Iterable<WriteRecorder> = []): CachedClient {
  const attached = new Map<string, WriteRecorder[]>()
  const cachesOf = (resource: ResourceDescriptor) => attached.get(keyOf(resource)) ?? []

  function attach(cache: WriteRecorder): void {
    const key = keyOf(cache.resource)
    attached.set(key, [...(attached.get(key) ?? []), cache])
  }

  async function recorded<T extends KubeObject>(
    resource: Resource<T>,
    response: Promise<Stored<T>>,
    dryRun: boolean | undefined,
  ): Promise<Stored<T>> {
    const object = await response
    // A subresource such as scale returns an object of another kind.
    if (dryRun || object.kind !== resource.kind) return object
    for (const cache of cachesOf(resource)) {
      if (isLastState(object)) cache.recordDeleted(object.metadata, object.metadata.uid)
      else cache.recordWrite(object)
    }
    return object
  }

  async function deleteAndRecord<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: DeleteOptions | undefined,
  ): Promise<Deletion<T>> {
    const before = cachesOf(resource).map(cache => cache.get(ref)?.metadata.uid)
    try {
      const deletion = await client.delete(resource, ref, options)
      if (!options?.dryRun)
        cachesOf(resource).forEach((cache, index) => {
          recordDeletion(cache, ref, deletion, before[index])
        })
      return deletion
    } catch (error) {
      // The object that had this name or UID at the time of the request is deleted, even if the watch has not shown
      // it yet.
      const uid = options?.preconditions?.uid
      if (isKubeError(error, 'NotFound') && !options?.dryRun)
        cachesOf(resource).forEach((cache, index) => {
          const gone = uid ?? before[index]
          if (gone) cache.recordDeleted(ref, gone)
        })
      throw error
    }
  }

  for (const cache of caches) attach(cache)
  return {
    attach: cache => attach(cache as unknown as WriteRecorder),
    get: (resource, ref, options) => client.get(resource, ref, options),
    find: (resource, ref, options) => client.find(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    page: (resource, options) => client.page(resource, options),
    pages: (resource, options) => client.pages(resource, options),
    watch: (resource, options, onEvent) => client.watch(resource, options, onEvent),
    create: (resource, object, options) =>
      recorded(resource, client.create(resource, object, options), options?.dryRun),
    update: (resource, object, options) =>
      recorded(resource, client.update(resource, object, options), options?.dryRun),
    patch: (resource, ref, patch, options) =>
      recorded(resource, client.patch(resource, ref, patch, options), options?.dryRun),
    apply: (resource, object, options) =>
      recorded(resource, client.apply(resource, object, options), options.dryRun),
    delete: deleteAndRecord,
    async deleteCollection(resource, options) {
      const deleted = await client.deleteCollection(resource, options)
      if (!options?.dryRun)
        for (const cache of cachesOf(resource))
          for (const { metadata } of deleted.items) cache.recordTerminating(metadata, metadata.uid)
      return deleted
    },
    raw: (request, options) => client.raw(request, options),
    close: () => client.close(),
  }
}

function recordDeletion(
  cache: WriteRecorder,
  ref: ObjectRef,
  deletion: Deletion<KubeObject>,
  before?: string,
): void {
  const uid = deletion.uid ?? before
  if (deletion.gone) {
    if (uid) cache.recordDeleted(ref, uid)
  } else if (deletion.object) cache.recordWrite(deletion.object)
}

function keyOf(resource: ResourceDescriptor): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}
