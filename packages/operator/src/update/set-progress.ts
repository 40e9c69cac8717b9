// SPDX-License-Identifier: Apache-2.0

// Reads the progress of an update from the status of a set. The controllers of cliques and scaling groups act by it.
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { revisionStableAfterMs } from '../timings/timings.ts'
import { strategyOf } from './strategy.ts'

/** Reports whether the user replaces outdated pods, by deleting them. */
export function isOnDelete(set: StoredSet): boolean {
  return !strategyOf(set.spec.updateStrategy).replacesPods
}

export function isPaused(set: StoredSet): boolean {
  return set.spec.updateStrategy?.paused === true
}

/** The replicas whose children may replace pods now. */
export function updatingReplicas(set: StoredSet): number[] {
  return (set.status?.updateProgress?.currentlyUpdating ?? []).map(({ replicaIndex }) => replicaIndex)
}

/**
 * Reports whether the status names the revision of the spec, or none yet. Until then the progress in the status belongs
 * to an earlier revision, and children do not act on the new one: the user may still revert it.
 */
export function isAnnounced(set: StoredSet): boolean {
  const announced = set.status?.currentGenerationHash
  return announced === undefined || announced === revisionOf(set).generationHash
}

/** Reports whether the children of this replica may replace outdated pods now. */
export function mayUpdate(set: StoredSet, replica: number): boolean {
  return !isOnDelete(set) && isUpdating(set) && updatingReplicas(set).includes(replica) && isAnnounced(set)
}

/** Reports whether the children of this replica keep their template, because the update does not reach them for now. */
export function isHeldBack(set: StoredSet, replica: number): boolean {
  if (isOnDelete(set) || !isUpdating(set) || updatingReplicas(set).includes(replica)) return false
  return isPaused(set) || replica < partitionOf(set)
}

/** The replicas that `isHeldBack` exempts. Children have to be synced again only when this changes. */
export function exemptedReplicas(set: StoredSet): readonly number[] {
  return isPaused(set) || partitionOf(set) > 0 ? updatingReplicas(set) : []
}

function partitionOf(set: StoredSet): number {
  return set.spec.updateStrategy?.partition ?? 0
}

/** Time until the newest revision counts as stable; 0 if it is stable. */
export function stableInMs(set: StoredSet, now: number): number {
  const started = Date.parse(set.status?.updateProgress?.updateStartedAt ?? '')
  const age = now - started
  // A start in the future comes from a clock that was set back. It must not delay the update.
  return age >= 0 && age < revisionStableAfterMs ? revisionStableAfterMs - age : 0
}
