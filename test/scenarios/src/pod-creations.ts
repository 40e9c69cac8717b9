// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'
import { type Client, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { placeOf } from './end-state.ts'

/** Counts the created pods of a namespace by clique and index, and lists the deleted ones. */
export class PodCreations implements AsyncDisposable {
  readonly deleted: string[] = []
  readonly #created = new Map<string, number>()
  readonly #abort = new AbortController()
  #watching: Promise<void> | undefined

  /** Pods for which `isIgnored` returns true are not recorded. */
  static async watch(
    client: Client,
    namespace: string,
    isIgnored: (pod: Pod) => boolean = () => false,
  ): Promise<PodCreations> {
    const record = new PodCreations()
    const cache = new WatchCache<Pod>(client, resources.pods, { namespace })
    cache.onChange(({ type, new: next, old }) => {
      const pod = (next ?? old) as Pod
      if (isIgnored(pod)) return
      const place = placeOf(pod)
      if (type === 'add') record.#created.set(place, (record.#created.get(place) ?? 0) + 1)
      if (type === 'delete') record.deleted.push(place)
    })
    record.#watching = cache.run(record.#abort.signal)
    await cache.waitForSync()
    return record
  }

  get total(): number {
    return [...this.#created.values()].reduce((sum, times) => sum + times, 0)
  }

  get createdTwice(): string[] {
    return [...this.#created].filter(([, times]) => times > 1).map(([place]) => place)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort()
    await this.#watching
  }
}
