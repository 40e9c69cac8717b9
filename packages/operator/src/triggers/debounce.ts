// SPDX-License-Identifier: Apache-2.0

// Changes of many children enqueue their parent once, not hundreds of times. The more children there are, the more a
// reconcile costs and the longer it is delayed.
import type { Source, WorkQueue } from '@grove/kube'
import type { ObjectKey } from '../layout/object-key.ts'

const parentWithinMs = 50
const perChildMs = 0.2
const longestMs = 300
/** Pods of one clique that are looked at one by one. */
const fewPods = 16
const perPodMs = 0.5

export function debounceOfParent(children: number): number {
  return Math.min(longestMs, parentWithinMs + children * perChildMs)
}

/**
 * For a set that is being updated. Every step of the update waits for it, so it does not grow with the number of children:
 * a reconcile of the set looks only at replicas that have changed.
 */
export const debounceOfUpdateMs = 10

export function debounceOfClique(pods: number): number {
  return pods <= fewPods ? 0 : Math.min(longestMs, pods * perPodMs)
}

/** Lets the keys of a source wait for others of their kind. */
export function debounced(
  source: Source<ObjectKey>,
  queue: () => WorkQueue<ObjectKey>,
  delayOf: (key: ObjectKey) => number,
): Source<ObjectKey> {
  return enqueue =>
    source((key, priority) => {
      const ms = delayOf(key)
      if (ms === 0) enqueue(key, priority)
      else queue().addNoLaterThanAfter(key, ms)
    })
}
