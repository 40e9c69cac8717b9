// SPDX-License-Identifier: Apache-2.0

import { rollingProgress } from './progress.ts'
import type { ReplicaUpdateState } from './replica-state.ts'
import type { UpdateStrategy } from './strategy.ts'

/** Updates at most maxUnavailable replicas at a time, and at least one. */
export const rolling: UpdateStrategy = {
  type: 'Rolling',
  replacesPods: true,
  progress: rollingProgress,
  select({ maxUnavailable, remaining, underWay }) {
    const free = Math.max(1, maxUnavailable) - underWay
    const next = free > 0 ? remaining.toSorted(leastLossFirst).slice(0, free) : []
    return { next: next.map(({ replica }) => replica), surge: 0, nextSurge: [] }
  },
}

/** Sorts replicas without scheduled pods first, then unavailable ones, then by index. */
export function leastLossFirst(a: ReplicaUpdateState, b: ReplicaUpdateState): number {
  return (
    Number(a.scheduledPods > 0) - Number(b.scheduledPods > 0) ||
    Number(a.isAvailable) - Number(b.isAvailable) ||
    a.replica - b.replica
  )
}
