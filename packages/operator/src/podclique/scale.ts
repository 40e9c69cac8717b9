// SPDX-License-Identifier: Apache-2.0

// Compares the pods of a clique with its replica count: the indexes of pods to create, and the pods to delete.
import type { Pod } from '@grove/api'
import { mostCreated } from '../apply/writes.ts'
import { indexOf, isActive, isFinished, isReady, isTerminating, templateHashOf } from '../state/pod-state.ts'
import { failuresAfter, isBackingOff, replacedAt } from './back-off.ts'

export interface ScalePlan<P extends Pod = Pod> {
  /**
   * The indexes of the pods to create, ascending, at most `mostCreated`. If the limit is reached, there may be more.
   */
  readonly create: readonly number[]
  /** Index → the number of failures in a row of the pod that a new pod replaces. */
  readonly failures: ReadonlyMap<number, number>
  /** Surplus pods, pods with a duplicate index, and finished pods that are replaced. */
  readonly remove: readonly P[]
}

export function planScale<P extends Pod>(
  replicas: number,
  pods: readonly P[],
  isCurrent: (hash: string) => boolean,
  now: number,
): ScalePlan<P> {
  const active = pods.filter(isActive)
  const duplicates = duplicatesAmong(active, isCurrent)
  const distinct = duplicates.size ? active.filter(pod => !duplicates.has(pod)) : active
  const finished = pods.filter(pod => isFinished(pod) && !isTerminating(pod))
  // Negative for surplus pods.
  const lacking = replicas - distinct.length
  const waiting = waitingAmong(finished, distinct, lacking, isCurrent, now)
  const due = waiting.size ? finished.filter(pod => !waiting.has(pod)) : finished
  const missing = lacking - waiting.size
  const create = freeIndexes([...distinct, ...waiting], missing)
  // Replacements inherit a failure count, so pods whose index a later slice fills stay until then.
  const isOfLaterSlice = (pod: P) => create.length < missing && (indexOf(pod) ?? -1) > create.at(-1)!
  return {
    create,
    failures: failuresByIndex(due, create, isCurrent, now),
    remove: [
      ...due.filter(pod => !isOfLaterSlice(pod)),
      ...duplicates,
      ...(lacking < 0 ? deletionOrder(distinct, isCurrent).slice(0, -lacking) : []),
    ],
  }
}

/**
 * Pods whose index another pod has that ranks higher. Two operators that ran at the same time created them. They share
 * one hostname, so they are not two replicas, and another index may have no pod at all.
 */
function duplicatesAmong<P extends Pod>(
  active: readonly P[],
  isCurrent: (hash: string) => boolean,
): ReadonlySet<P> {
  const indexes = active.map(indexOf).filter(index => index !== undefined)
  if (new Set(indexes).size === indexes.length) return new Set()
  const known = new Set<number>()
  const duplicates = new Set<P>()
  for (const pod of deletionOrder(active, isCurrent).reverse()) {
    const index = indexOf(pod)
    if (index === undefined) continue
    if (known.has(index)) duplicates.add(pod)
    known.add(index)
  }
  return duplicates
}

/**
 * Finished pods in back-off, one per index and at most `limit`: those with the lowest indexes, because these are filled
 * first.
 */
function waitingAmong(
  finished: readonly Pod[],
  distinct: readonly Pod[],
  limit: number,
  isCurrent: (hash: string) => boolean,
  now: number,
): ReadonlySet<Pod> {
  const waiting = limit > 0 ? finished.filter(pod => isBackingOff(pod, isCurrent, now)) : []
  if (waiting.length === 0) return new Set()
  const taken = new Set(distinct.map(indexOf))
  const kept: Pod[] = []
  // The youngest pod of an index has the longest delay.
  const inOrder = waiting.toSorted((a, b) => indexOf(a)! - indexOf(b)! || replacedAt(b) - replacedAt(a))
  for (const pod of inOrder) {
    if (kept.length >= limit || taken.has(indexOf(pod))) continue
    taken.add(indexOf(pod))
    kept.push(pod)
  }
  return new Set(kept)
}

function failuresByIndex(
  due: readonly Pod[],
  create: readonly number[],
  isCurrent: (hash: string) => boolean,
  now: number,
): ReadonlyMap<number, number> {
  const failures = new Map<number, number>()
  const created = new Set(create)
  for (const pod of due) {
    const index = indexOf(pod)
    if (index === undefined || !created.has(index) || !isCurrent(templateHashOf(pod) ?? '')) continue
    failures.set(index, Math.max(failures.get(index) ?? 0, failuresAfter(pod, now)))
  }
  return failures
}

/** Returns the lowest free indexes, so that holes are filled first. */
function freeIndexes(active: readonly Pod[], count: number): number[] {
  const used = new Set(active.map(indexOf))
  const free: number[] = []
  for (let index = 0; free.length < Math.min(count, mostCreated); index++)
    if (!used.has(index)) free.push(index)
  return free
}

/** Pods in deletion order: unscheduled first, then not running, not ready, outdated, youngest, highest index. */
export function deletionOrder<P extends Pod>(pods: readonly P[], isCurrent: (hash: string) => boolean): P[] {
  const rank = (pod: Pod): (number | string)[] => [
    pod.spec?.nodeName ? 1 : 0,
    phaseRank[pod.status?.phase ?? ''] ?? 0,
    isReady(pod) ? 1 : 0,
    isCurrent(templateHashOf(pod) ?? '') ? 1 : 0,
    -Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
    -(indexOf(pod) ?? 0),
    pod.metadata.name,
  ]
  return pods
    .map(pod => ({ pod, rank: rank(pod) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ pod }) => pod)
}

const phaseRank: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 }

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (let at = 0; at < a.length; at++) {
    if (a[at]! < b[at]!) return -1
    if (a[at]! > b[at]!) return 1
  }
  return 0
}
