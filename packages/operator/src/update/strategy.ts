// SPDX-License-Identifier: Apache-2.0

// The update strategies. A strategy decides which replicas of a set are updated next and how the progress of their
// children is recorded. Pausing and the partition apply to all strategies: see replica-selection.ts.
import type { PodCliqueSetUpdateStrategy } from '@grove/api'
import { onDelete } from './on-delete.ts'
import type { rollingProgress } from './progress.ts'
import type { ReplicaUpdateState } from './replica-state.ts'
import { rolling } from './rolling.ts'
import { surge } from './surge.ts'

export interface UpdateStrategy {
  readonly type: 'Rolling' | 'Surge' | 'OnDelete'
  /** Reports whether the operator replaces outdated pods itself. */
  readonly replacesPods: boolean
  select(candidates: ReplicaCandidates): ReplicaSelection
  /** Computes the next progress of a clique or a scaling group. */
  readonly progress: typeof rollingProgress
}

export interface ReplicaCandidates {
  readonly maxUnavailable: number
  readonly maxSurge: number
  /** spec.replicas; states with a higher index belong to surge replicas. */
  readonly replicas: number
  readonly states: readonly ReplicaUpdateState[]
  /** Replicas whose update has started and is not complete, including surge replicas. */
  readonly begun: ReadonlySet<number>
  /** Number of those below `replicas`. */
  readonly underWay: number
  /** Replicas that may be selected: neither done, nor started, nor below the partition. */
  readonly remaining: readonly ReplicaUpdateState[]
  /** Number of surge replicas that exist. */
  readonly surge: number
}

export interface ReplicaSelection {
  /** Replicas below `replicas` to update now. */
  readonly next: readonly number[]
  /** The wanted number of surge replicas. */
  readonly surge: number
  /** Surge replicas to update now: new ones, and those with an earlier template that do not serve. */
  readonly nextSurge: readonly number[]
}

export function strategyOf(spec: PodCliqueSetUpdateStrategy | undefined): UpdateStrategy {
  if (spec?.type === 'OnDelete') return onDelete
  return (spec?.maxSurge ?? 0) > 0 ? surge : rolling
}
