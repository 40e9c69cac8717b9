// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'
import type { AssumedPod, PodBinding } from '../types.ts'

interface Assumption extends AssumedPod {
  readonly uid: string
  /** Monotonic. Undefined: until the watch shows the pod. */
  expiresAt?: number
  /** The API server has accepted the binding. */
  isBound?: boolean
}

/**
 * Pods whose node is decided and that the watch does not show on it yet. They count as bound, so that no later decision
 * uses their room. An entry ends when the watch shows the pod bound, gone or terminating, or when its binding failed. An
 * entry whose binding has no known outcome ends after a time.
 */
export class AssumedPods {
  readonly #byUid = new Map<string, Assumption>()

  get size(): number {
    return this.#byUid.size
  }

  assume({ namespace, pod, uid, node }: PodBinding): void {
    this.#byUid.set(uid, { namespace, name: pod, uid, node })
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }

  confirm(uid: string): void {
    const assumption = this.#byUid.get(uid)
    if (assumption) assumption.isBound = true
  }

  isConfirmed(uid: string): boolean {
    return this.#byUid.get(uid)?.isBound ?? false
  }

  /** The response was lost and the pod cannot be read: it may be bound. */
  expire(uid: string, at: number): void {
    const assumption = this.#byUid.get(uid)
    if (assumption) assumption.expiresAt = at
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid)
  }

  /** Drops what the watch shows by now and what has expired, and returns the rest. `now` is monotonic. */
  current(find: (pod: AssumedPod) => Pod | undefined, now: number): AssumedPod[] {
    for (const [uid, assumed] of this.#byUid) {
      const pod = find(assumed)
      const isShown = !pod || pod.metadata.uid !== uid || pod.spec.nodeName || pod.metadata.deletionTimestamp
      if (isShown || (assumed.expiresAt !== undefined && assumed.expiresAt <= now)) this.#byUid.delete(uid)
    }
    return [...this.#byUid.values()]
  }

  /** The next time at which an entry expires; monotonic. */
  nextExpiry(): number | undefined {
    const times = [...this.#byUid.values()].flatMap(({ expiresAt }) => expiresAt ?? [])
    return times.length ? Math.min(...times) : undefined
  }
}
