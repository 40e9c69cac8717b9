// SPDX-License-Identifier: Apache-2.0

// How many pods a clique lacks or has too many, which indexes new ones get and which of the old ones go.
import type { Pod } from '@grove/api'
import { indexOf, isActive, isFinished, isReady, isTerminating, templateHashOf } from './pod-state.ts'

export interface ScalePlan {
  /** Indexes of the pods to create, ascending. */
  readonly create: readonly number[]
  /** Surplus pods, doubles, and finished ones whose place is taken. */
  readonly remove: readonly Pod[]
}

export function planScale(
  replicas: number,
  pods: readonly Pod[],
  isCurrent: (hash: string) => boolean,
): ScalePlan {
  const active = pods.filter(isActive)
  const doubles = doublesAmong(active, isCurrent)
  const replicasNow = doubles.size ? active.filter(pod => !doubles.has(pod)) : active
  const finished = pods.filter(pod => isFinished(pod) && !isTerminating(pod))
  const surplus = replicasNow.length - replicas
  return {
    create: freeIndexes(replicasNow, -surplus),
    remove: [
      ...finished,
      ...doubles,
      ...(surplus > 0 ? deletionOrder(replicasNow, isCurrent).slice(0, surplus) : []),
    ],
  }
}

/**
 * Pods whose index another one has, which would be missed more: two operators that did not know of each other
 * made them. They have one hostname, so they are no two replicas, and another index may have none at all.
 */
function doublesAmong(active: readonly Pod[], isCurrent: (hash: string) => boolean): ReadonlySet<Pod> {
  const indexes = active.map(indexOf).filter(index => index !== undefined)
  if (new Set(indexes).size === indexes.length) return new Set()
  const known = new Set<number>()
  const doubles = new Set<Pod>()
  for (const pod of deletionOrder(active, isCurrent).reverse()) {
    const index = indexOf(pod)
    if (index === undefined) continue
    if (known.has(index)) doubles.add(pod)
    known.add(index)
  }
  return doubles
}

/** The lowest indexes that no active pod has: holes are filled first, and a finished pod frees its own. */
function freeIndexes(active: readonly Pod[], count: number): number[] {
  const used = new Set(active.map(indexOf))
  const free: number[] = []
  for (let index = 0; free.length < count; index++) if (!used.has(index)) free.push(index)
  return free
}

/** Whom nobody would miss first: not placed, not running, not ready, outdated, youngest, highest index. */
export function deletionOrder(pods: readonly Pod[], isCurrent: (hash: string) => boolean): Pod[] {
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
