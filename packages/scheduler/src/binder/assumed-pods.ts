// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'
import type { AssumedPod, PodBinding } from '../types.ts'

/**
 * Pods whose node is decided and that the watch does not show on it yet. They count as bound, so that no later decision
 * uses their room. An entry ends when the watch shows the pod bound, gone or terminating, or when its binding failed.
 */
export class AssumedPods {
  readonly #byUid = new Map<string, AssumedPod & { readonly uid: string }>()

  get size(): number {
    return this.#byUid.size
  }

  assume({ namespace, pod, uid, node }: PodBinding): void {
    this.#byUid.set(uid, { namespace, name: pod, uid, node })
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid)
  }

  /** Drops what the watch shows by now, and returns the rest. */
  current(find: (pod: AssumedPod) => Pod | undefined): AssumedPod[] {
    for (const [uid, assumed] of this.#byUid) {
      const pod = find(assumed)
      if (!pod || pod.metadata.uid !== uid || pod.spec.nodeName || pod.metadata.deletionTimestamp)
        this.#byUid.delete(uid)
    }
    return [...this.#byUid.values()]
  }
}
