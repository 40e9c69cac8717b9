// SPDX-License-Identifier: Apache-2.0

// Changes of many children enqueue their parent once, not hundreds of times. The more children there are, the more a
// reconcile costs and the longer it is delayed.
import type { Source, WorkQueue } from '@grove/kube'
import {
  cliqueDebouncePerPodMs,
  longestDebounceMs,
  parentDebounceMs,
  parentDebouncePerChildMs,
} from '../timings/timings.ts'

/** Cliques with at most this many pods are not debounced. */
const fewPods = 16

export function debounceOfParent(children: number): number {
  return Math.min(longestDebounceMs, parentDebounceMs + children * parentDebouncePerChildMs)
}

export function debounceOfClique(pods: number): number {
  return pods <= fewPods ? 0 : Math.min(longestDebounceMs, pods * cliqueDebouncePerPodMs)
}

/** Debounces the keys of a source. */
export function debounced<Key extends string>(
  source: Source<Key>,
  queue: () => WorkQueue<Key>,
  delayOf: (key: Key) => number,
): Source<Key> {
  return enqueue =>
    source((key, priority) => {
      const ms = delayOf(key)
      if (ms === 0) enqueue(key, priority)
      else queue().addNoLaterThanAfter(key, ms)
    })
}
