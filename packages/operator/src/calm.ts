// SPDX-License-Identifier: Apache-2.0

// What happens to many children of one parent at once is one reason to look at the parent, not hundreds; the more there
// are, the more a look costs and the longer it can wait.
import type { Source, WorkQueue } from '@grove/kube'
import type { ObjectKey } from './object-key.ts'

const parentWithinMs = 50
const perChildMs = 0.2
const longestMs = 300
/** Pods of one clique that are looked at one by one. */
const fewPods = 16
const perPodMs = 0.5

export function calmOfParent(children: number): number {
  return Math.min(longestMs, parentWithinMs + children * perChildMs)
}

/** An update waits for each of its steps. */
export function calmOfUpdate(children: number): number {
  return Math.min(longestMs, children * perChildMs)
}

export function calmOfClique(pods: number): number {
  return pods <= fewPods ? 0 : Math.min(longestMs, pods * perPodMs)
}

/** Lets the keys of a source wait for others of their kind. */
export function calmly(
  source: Source<ObjectKey>,
  queue: () => WorkQueue<ObjectKey>,
  calmOf: (key: ObjectKey) => number,
): Source<ObjectKey> {
  return enqueue =>
    source((key, priority) => {
      const ms = calmOf(key)
      if (ms === 0) enqueue(key, priority)
      else queue().addNoLaterThanAfter(key, ms)
    })
}
