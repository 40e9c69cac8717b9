// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef, Stored } from '../client/index.ts'

/** Returns the keys of an object in an index; undefined for none. Must depend only on the object. */
export type IndexFunction<T extends KubeObject> = (
  object: Stored<T>,
) => string | readonly string[] | undefined

/** A stable holder of an object. It stays the same through updates, so indexes change only when a key changes. */
interface Entry<T extends KubeObject> {
  object: Stored<T>
}

/** Most keys of most indexes have one object, so a Set is created only for the second. */
type Bucket<T extends KubeObject> = Entry<T> | Set<Entry<T>>

/**
 * Stores objects by namespace and name and by any number of secondary keys. A lookup costs as much as it returns; an
 * update evaluates each index once. Iteration order is not promised.
 */
export class IndexedStore<T extends KubeObject, I extends string = string> {
  readonly #byNamespace = new Map<string, Map<string, Entry<T>>>()
  readonly #indexes: readonly {
    readonly name: I
    readonly keysOf: IndexFunction<T>
    readonly buckets: Map<string, Bucket<T>>
  }[]
  #size = 0

  constructor(indexes: Readonly<Record<I, IndexFunction<T>>>) {
    this.#indexes = (Object.entries(indexes) as [I, IndexFunction<T>][]).map(([name, keysOf]) => ({
      name,
      keysOf,
      buckets: new Map(),
    }))
  }

  get size(): number {
    return this.#size
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#byNamespace.get(ref.namespace ?? '')?.get(ref.name)?.object
  }

  /** Stores an object and returns the one that had its name before. */
  put(object: Stored<T>): Stored<T> | undefined {
    const { namespace = '', name } = object.metadata
    let names = this.#byNamespace.get(namespace)
    if (!names) {
      names = new Map()
      this.#byNamespace.set(namespace, names)
    }
    const entry = names.get(name)
    if (entry) {
      const old = entry.object
      entry.object = object
      for (const index of this.#indexes)
        moveKeys(index.buckets, entry, index.keysOf(old), index.keysOf(object))
      return old
    }
    const added = { object }
    names.set(name, added)
    this.#size++
    for (const index of this.#indexes) moveKeys(index.buckets, added, undefined, index.keysOf(object))
    return undefined
  }

  remove(ref: ObjectRef): Stored<T> | undefined {
    const namespace = ref.namespace ?? ''
    const names = this.#byNamespace.get(namespace)
    const entry = names?.get(ref.name)
    if (!names || !entry) return undefined
    names.delete(ref.name)
    if (names.size === 0) this.#byNamespace.delete(namespace)
    this.#size--
    for (const index of this.#indexes) moveKeys(index.buckets, entry, index.keysOf(entry.object), undefined)
    return entry.object
  }

  *values(namespace?: string): Generator<Stored<T>, void, undefined> {
    const parts = namespace === undefined ? this.#byNamespace.values() : [this.#byNamespace.get(namespace)]
    for (const names of parts) if (names) for (const entry of names.values()) yield entry.object
  }

  byIndex(name: I, key: string): Stored<T>[] {
    const bucket = this.#bucketsOf(name).get(key)
    if (bucket === undefined) return []
    if (!(bucket instanceof Set)) return [bucket.object]
    const found: Stored<T>[] = []
    for (const entry of bucket) found.push(entry.object)
    return found
  }

  /** Counts the objects of a key without listing them. */
  countByIndex(name: I, key: string): number {
    const bucket = this.#bucketsOf(name).get(key)
    return bucket === undefined ? 0 : bucket instanceof Set ? bucket.size : 1
  }

  /** Returns every key of this index. */
  keysOfIndex(name: I): IterableIterator<string> {
    return this.#bucketsOf(name).keys()
  }

  #bucketsOf(name: I): Map<string, Bucket<T>> {
    const index = this.#indexes.find(each => each.name === name)
    if (!index) throw new TypeError(`unknown index ${name}`)
    return index.buckets
  }
}

type Keys = string | readonly string[] | undefined

function moveKeys<T extends KubeObject>(
  buckets: Map<string, Bucket<T>>,
  entry: Entry<T>,
  before: Keys,
  after: Keys,
): void {
  if (before === after) return
  const old = toArray(before)
  const now = toArray(after)
  for (const key of old) if (!now.includes(key)) removeFrom(buckets, key, entry)
  for (const key of now) if (!old.includes(key)) addTo(buckets, key, entry)
}

function toArray(keys: Keys): readonly string[] {
  return keys === undefined ? [] : typeof keys === 'string' ? [keys] : keys
}

function addTo<T extends KubeObject>(buckets: Map<string, Bucket<T>>, key: string, entry: Entry<T>): void {
  const bucket = buckets.get(key)
  if (bucket === undefined || bucket === entry) buckets.set(key, entry)
  else if (bucket instanceof Set) bucket.add(entry)
  else buckets.set(key, new Set([bucket, entry]))
}

function removeFrom<T extends KubeObject>(
  buckets: Map<string, Bucket<T>>,
  key: string,
  entry: Entry<T>,
): void {
  const bucket = buckets.get(key)
  if (!(bucket instanceof Set)) buckets.delete(key)
  else if (bucket.delete(entry) && bucket.size === 0) buckets.delete(key)
}
