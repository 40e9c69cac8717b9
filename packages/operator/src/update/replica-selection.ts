// SPDX-License-Identifier: Apache-2.0

// Selects the replicas of a set that are updated next. This file contains all rules that apply to every strategy: the
// partition, pausing, and the end of an update.
import type { PodCliqueSetUpdateStrategy } from '@grove/api'
import type { ReplicaUpdateState } from './replica-state.ts'
import { type ReplicaSelection, strategyOf } from './strategy.ts'

export interface ReplicaSelectionInput {
  readonly strategy: PodCliqueSetUpdateStrategy | undefined
  /** spec.replicas; states with a higher index belong to surge replicas. */
  readonly replicas: number
  readonly states: readonly ReplicaUpdateState[]
  /** Replicas whose update has started and is not complete. */
  readonly begun: readonly number[]
  /** The number of existing surge replicas. */
  readonly surge: number
}

export interface SelectedReplicas extends ReplicaSelection {
  /** Reports whether some replica at or above the partition is not done and not selected. */
  readonly isWaiting: boolean
}

export function selectReplicas(input: ReplicaSelectionInput): SelectedReplicas {
  const { strategy, replicas, states, surge } = input
  const { paused = false, partition = 0, maxUnavailable = 1, maxSurge = 0 } = strategy ?? {}
  const begun = new Set(input.begun)
  const underWay = input.begun.filter(replica => replica < replicas).length
  const remaining = states.filter(
    ({ replica, isDone }) => replica < replicas && !isDone && replica >= partition && !begun.has(replica),
  )
  if (underWay + remaining.length === 0) return { next: [], surge: 0, nextSurge: [], isWaiting: false }
  if (paused) return { next: [], surge, nextSurge: [], isWaiting: remaining.length > 0 }
  const candidates = {
    maxUnavailable,
    maxSurge,
    replicas,
    states,
    begun,
    underWay,
    remaining,
    surge,
  }
  const selection = strategyOf(strategy).select(candidates)
  return { ...selection, isWaiting: selection.next.length < remaining.length }
}
