// SPDX-License-Identifier: Apache-2.0

// The watch cache of one kind whose events arrive late, in order. It is the production cache: responses to own writes
// are in it at once, and later events with older states do not revert them.
import {
  type Change,
  type Clock,
  type KubeObject,
  ObjectCache,
  type ObjectRef,
  type Stored,
  type WatchEvent,
} from '@grove/kube'
import { byController } from '../../caches/caches.ts'
import { byReplica } from '../../caches/replica-index.ts'
import type { Random } from './random.ts'

export type Index = 'controller' | 'replica' | 'set' | 'basePodGang'

/** A watch lags by at most this many events. */
const mostPending = 30
/** Probability in percent that events arrive at a given opportunity. */
const arrivals = 15

export class LateCache {
  readonly #cache: ObjectCache<KubeObject, KubeObject, Index>
  readonly #pending: WatchEvent<KubeObject>[] = []

  constructor(clock: Clock, keyIn: (index: Index, object: Stored<KubeObject>) => string | undefined) {
    this.#cache = new ObjectCache<KubeObject, KubeObject, Index>({
      scope: {},
      project: object => object,
      indexes: {
        controller: byController,
        replica: byReplica,
        set: object => keyIn('set', object),
        basePodGang: object => keyIn('basePodGang', object),
      },
      clock,
      onHandlerError: error => {
        throw error
      },
    })
  }

  get store() {
    return this.#cache.store
  }

  onChange(handler: (change: Change<KubeObject>) => void): () => void {
    return this.#cache.onChange(handler)
  }

  /** The API server has stored a change. Its event is delivered later. */
  happened(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored<KubeObject>): void {
    this.#pending.push({ type, object } as WatchEvent<KubeObject>)
  }

  /** Delivers some of the events. */
  arriveSome(random: Random): void {
    const least = Math.max(0, this.#pending.length - mostPending)
    this.#arrive(random.chance(arrivals) ? least + random.below(this.#pending.length - least + 1) : least)
  }

  arriveAll(): void {
    this.#arrive(this.#pending.length)
  }

  recordWrite(object: Stored<KubeObject>): void {
    this.#cache.recordWrite(object)
  }

  recordDeleted(ref: ObjectRef, uid: string): void {
    this.#cache.recordDeleted(ref, uid)
  }

  recordTerminating(ref: ObjectRef, uid: string): void {
    this.#cache.recordTerminating(ref, uid)
  }

  #arrive(count: number): void {
    for (const event of this.#pending.splice(0, count)) this.#cache.watched(event)
  }
}
