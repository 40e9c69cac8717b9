// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'

/** The current objects of one resource, by key and in key order. */
export class Collection {
  readonly #objects = new Map<string, KubeObject>()
  /** All keys, sorted. Binary insertion moves a few kilobytes. Sorting on every list would cost far more. */
  readonly #keys: string[] = []

  get size(): number {
    return this.#keys.length
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key)
  }

  set(key: string, object: KubeObject): void {
    if (!this.#objects.has(key)) this.#keys.splice(this.#assignmentOf(key), 0, key)
    this.#objects.set(key, object)
  }

  delete(key: string): void {
    if (this.#objects.delete(key)) this.#keys.splice(this.#assignmentOf(key), 1)
  }

  /** Yields objects whose keys start with `prefix`, from `start` on, in key order. */
  *range(prefix: string, start: string): Generator<readonly [key: string, object: KubeObject]> {
    for (let i = this.#assignmentOf(start > prefix ? start : prefix); i < this.#keys.length; i++) {
      const key = this.#keys[i]!
      if (!key.startsWith(prefix)) return
      yield [key, this.#objects.get(key)!]
    }
  }

  #assignmentOf(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
