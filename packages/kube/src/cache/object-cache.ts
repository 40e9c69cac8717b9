// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef, SelectOptions, Stored, StoredMeta, WatchEvent } from '../client/index.ts'
import type { Clock } from '../clock/index.ts'
import type { Change, ChangeHandler, ChangeSource } from './change.ts'
import { IndexedStore, type IndexFunction } from './indexed-store.ts'
import { compareResourceVersions } from './resource-version.ts'
import { fieldMatcher, labelMatcher, type Matcher } from './selector.ts'
import { type Fate, Tombstones } from './tombstones.ts'

/**
 * Reduces an object to the part that the cache keeps. Must be pure, must not change its argument, and must keep the
 * metadata's name, namespace, uid, resourceVersion and deletionTimestamp.
 */
export type Projection<T extends KubeObject, P extends KubeObject> = (object: Stored<T>) => Stored<P>

export interface ObjectCacheOptions<T extends KubeObject, P extends KubeObject, I extends string> {
  readonly scope: SelectOptions
  readonly project: Projection<T, P>
  readonly indexes: Readonly<Record<I, IndexFunction<P>>>
  readonly clock: Clock
  readonly onHandlerError: (error: unknown) => void
}

/**
 * The state of a watch cache, without any I/O. Its input is lists, watch events and responses to own writes, in any
 * order in which a network can deliver them. Its output is objects and exact changes.
 *
 * Promised: a read returns the newest state of an object that was ever put in, and never an older one than before.
 * An object that this client deleted is not returned again. Each change is reported once, in order. Objects are
 * shared and read-only.
 */
export class ObjectCache<T extends KubeObject, P extends KubeObject, I extends string> {
  readonly #options: ObjectCacheOptions<T, P, I>
  readonly #store: IndexedStore<P, I>
  readonly #tombstones = new Tombstones()
  readonly #handlers = new Set<ChangeHandler<P>>()
  readonly #matchers: readonly Matcher[]
  /** Versions from responses to own writes whose events are still to come. */
  readonly #known = new Set<string>()
  /** Everything up to this resourceVersion has been put in. */
  #progress: string | undefined
  #listsBegun = 0
  #seenInList: Set<string> | undefined
  /** The server's history has restarted, so its resourceVersions cannot be compared with the cached ones. */
  #starting = false
  #changes = 0

  constructor(options: ObjectCacheOptions<T, P, I>) {
    this.#options = options
    this.#store = new IndexedStore<P, I>(options.indexes)
    const { namespace, labelSelector, fieldSelector } = options.scope
    this.#matchers = [
      ...(namespace ? [(object: KubeObject) => object.metadata?.namespace === namespace] : []),
      ...(labelSelector ? [labelMatcher(labelSelector)] : []),
      ...(fieldSelector ? [fieldMatcher(fieldSelector)] : []),
    ]
  }

  get store(): Pick<
    IndexedStore<P, I>,
    'get' | 'values' | 'byIndex' | 'countByIndex' | 'keysOfIndex' | 'size'
  > {
    return this.#store
  }

  get resourceVersion(): string | undefined {
    return this.#progress
  }

  /** Events of these versions carry nothing new: the cache holds that state or a newer one. */
  get known(): ReadonlySet<string> {
    return this.#known
  }

  /** The number of own deletions that the watch has not shown yet. */
  get pendingDeletions(): number {
    return this.#tombstones.open
  }

  /** The number of changes reported so far. */
  get changes(): number {
    return this.#changes
  }

  /** Existing objects are reported first, as added. */
  onChange(handler: ChangeHandler<P>): () => void {
    for (const object of this.#store.values())
      this.#call(handler, { type: 'add', old: undefined, new: object, source: 'list' })
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  /** Call before a list request. Discards a list that was not finished. */
  beginList(): void {
    // A list must report everything, because objects that it does not contain are deleted.
    this.#known.clear()
    this.#listsBegun++
    this.#seenInList = new Set()
  }

  listed(object: Stored<T>): void {
    const { uid } = object.metadata
    this.#seenInList?.add(uid)
    this.#tombstones.listed(uid, this.#listsBegun)
    this.#present(object, 'list')
  }

  /**
   * The list is complete at this resourceVersion. Returns false if that is older than the cached state: the cluster
   * was restored from a backup, and everything must be listed once more.
   */
  endList(resourceVersion: string): boolean {
    const seen = this.#seenInList ?? new Set<string>()
    this.#seenInList = undefined
    if (this.#progress && compareResourceVersions(resourceVersion, this.#progress) < 0) {
      this.#progress = undefined
      this.#tombstones.clear()
      this.#starting = true
      return false
    }
    const missing: Stored<P>[] = []
    for (const object of this.#store.values()) {
      const { uid, resourceVersion: own } = object.metadata
      // The object is newer than the list and not in it: this client wrote it meanwhile.
      if (!seen.has(uid) && (this.#starting || compareResourceVersions(own, resourceVersion) <= 0))
        missing.push(object)
    }
    for (const object of missing) this.#remove(object, 'list')
    this.#tombstones.listComplete(this.#listsBegun, seen)
    this.#starting = false
    this.#advance(resourceVersion)
    return true
  }

  watched(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#advance(event.resourceVersion)
      return
    }
    const { metadata } = event.object
    this.#known.delete(metadata.resourceVersion)
    if (event.type === 'DELETED') this.#absent(metadata, 'watch')
    else this.#present(event.object, 'watch')
    if (!this.#progress || compareResourceVersions(metadata.resourceVersion, this.#progress) > 0)
      this.#progress = metadata.resourceVersion
  }

  /** Records the response to an own create, update, patch or apply. */
  recordWrite(object: Stored<T>): void {
    const { resourceVersion } = object.metadata
    // The watch has already shown everything about this version, perhaps also the deletion.
    if (this.#progress && compareResourceVersions(resourceVersion, this.#progress) <= 0) return
    if (this.#isInScope(object)) {
      if (!this.#seenInList) this.#known.add(resourceVersion)
      this.#present(object, 'write')
      return
    }
    // The held object may have the same name and another UID. Then that one is deleted.
    const held = this.#store.get(object.metadata)
    if (held && compareResourceVersions(resourceVersion, held.metadata.resourceVersion) <= 0) return
    this.#tombstones.setFloor(object.metadata, resourceVersion)
    if (held) this.#remove(held, 'write')
  }

  /** Records an own delete after which the object no longer exists. */
  recordDeleted(ref: ObjectRef, uid: string): void {
    const held = this.#holding(ref, uid)
    this.#setTombstone(ref, uid, 'gone', held !== undefined)
    if (!held) return
    this.#tombstones.setFloor(ref, held.metadata.resourceVersion)
    this.#remove(held, 'write')
  }

  /** Records an own delete with unknown effect: the object is deleted or terminating. It is shown as terminating. */
  recordTerminating(ref: ObjectRef, uid: string): void {
    const held = this.#holding(ref, uid)
    if (held?.metadata.deletionTimestamp !== undefined) return
    this.#setTombstone(ref, uid, 'terminating', held !== undefined)
    if (held) this.#replace(held, this.#asTerminating(held), 'write')
  }

  #holding(ref: ObjectRef, uid: string): Stored<P> | undefined {
    const held = this.#store.get(ref)
    return held?.metadata.uid === uid ? held : undefined
  }

  /** For an object that is shown, an event will arrive, or a list that does not contain it. */
  #setTombstone(ref: ObjectRef, uid: string, fate: Fate, shown: boolean): void {
    const { namespace } = this.#options.scope
    if (namespace && ref.namespace !== namespace) return
    this.#tombstones.set(uid, fate, this.#listsBegun, shown)
  }

  #isInScope(object: KubeObject): boolean {
    return this.#matchers.every(matches => matches(object))
  }

  #present(object: Stored<T>, source: ChangeSource): void {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata
    const held = this.#store.get(object.metadata)
    if (held && this.#isOutdated(held.metadata, object.metadata)) return
    const fate = this.#tombstones.fateOf(uid)
    if (fate === 'gone' || this.#tombstones.isBelowFloor(object.metadata, resourceVersion)) return
    let kept = this.#options.project(object)
    if (fate === 'terminating') {
      if (deletionTimestamp === undefined) kept = this.#asTerminating(kept)
      else this.#tombstones.forget(uid)
    }
    if (held?.metadata.uid === uid) {
      this.#replace(held, kept, source)
      return
    }
    // The held object has the same name and another UID. It was deleted; the event is late or was missed.
    if (held) this.#remove(held, source)
    this.#tombstones.arrived(uid)
    this.#store.put(kept)
    this.#report({ type: 'add', old: undefined, new: kept, source })
  }

  #absent(metadata: StoredMeta, source: ChangeSource): void {
    const held = this.#holding(metadata, metadata.uid)
    // The object left the selection, and an own write has brought it back since.
    if (held && compareResourceVersions(metadata.resourceVersion, held.metadata.resourceVersion) < 0) return
    this.#tombstones.departed(metadata.uid)
    if (held) this.#remove(held, source)
  }

  #isOutdated(held: StoredMeta, incoming: StoredMeta): boolean {
    if (this.#starting) return held.uid === incoming.uid && held.resourceVersion === incoming.resourceVersion
    return compareResourceVersions(incoming.resourceVersion, held.resourceVersion) <= 0
  }

  #replace(old: Stored<P>, kept: Stored<P>, source: ChangeSource): void {
    this.#store.put(kept)
    this.#report({ type: 'update', old, new: kept, source })
  }

  #remove(held: Stored<P>, source: ChangeSource): void {
    this.#store.remove(held.metadata)
    this.#report({ type: 'delete', old: held, new: undefined, source })
  }

  #advance(resourceVersion: string): void {
    this.#known.delete(resourceVersion)
    if (this.#progress && compareResourceVersions(resourceVersion, this.#progress) < 0) return
    this.#progress = resourceVersion
    this.#tombstones.reached(resourceVersion)
  }

  #asTerminating(object: Stored<P>): Stored<P> {
    const deletionTimestamp = new Date(this.#options.clock.now()).toISOString().replace(/\.\d+/, '')
    return { ...object, metadata: { ...object.metadata, deletionTimestamp } } as Stored<P>
  }

  #report(change: Change<P>): void {
    this.#changes++
    for (const handler of this.#handlers) this.#call(handler, change)
  }

  /** An exception of one handler does not affect the others. */
  #call(handler: ChangeHandler<P>, change: Change<P>): void {
    try {
      handler(change)
    } catch (error) {
      this.#options.onHandlerError(error)
    }
  }
}
