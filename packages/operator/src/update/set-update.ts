// SPDX-License-Identifier: Apache-2.0

// Plans the update of a set: starts it for a new revision, selects the replicas that are updated next, and ends it. The
// set deletes nothing itself. Children of selected replicas replace outdated pods.
import type {
  ConditionValue,
  PodCliqueSetStatus,
  PodCliqueSetUpdateProgress,
  ReplicaUpdateProgress,
} from '@grove/api'
import { surgeReplicas } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { isInProgress, isUpdating } from '../state/child-state.ts'
import { selectReplicas } from './replica-selection.ts'
import type { ReplicaState, ReplicaUpdateState } from './replica-state.ts'
import { updateCondition } from './set-condition.ts'
import { isOnDelete, isPaused } from './set-progress.ts'

export interface RevisionInput {
  readonly set: StoredSet
  /** Hash of the revision that the spec describes. */
  readonly generationHash: string
  /** Reports whether the hash in the status names that revision, possibly by another algorithm. */
  isCurrentGeneration(stored: string): boolean
  /** Cliques of another revision exist although the status names none: the operator stopped before it wrote one. */
  readonly hasStrays: boolean
  /** RFC 3339. */
  readonly now: string
}

/**
 * The status with the revision of the spec, and with a new update if the revision differs. Undefined if nothing
 * changes.
 */
export function statusForRevision(input: RevisionInput): PodCliqueSetStatus | undefined {
  const { set, generationHash, now } = input
  const before = set.status
  const progress = before?.updateProgress
  const stored = before?.currentGenerationHash
  const onDelete = isOnDelete(set)
  if (stored === generationHash) {
    // The user changed the strategy during an update. The operator does not complete it.
    return onDelete && progress && isInProgress(progress)
      ? { ...before, updateProgress: ended(progress, now) }
      : undefined
  }
  const status: PodCliqueSetStatus = {
    ...(before ?? { availableReplicas: 0, updatedReplicas: 0 }),
    currentGenerationHash: generationHash,
  }
  const isUnchanged = stored === undefined ? !input.hasStrays : input.isCurrentGeneration(stored)
  return isUnchanged
    ? status
    : { ...status, updatedReplicas: 0, updateProgress: started(progress, onDelete, now) }
}

export interface SetUpdateInput {
  readonly set: StoredSet
  /** States of all replicas, surge replicas included, by their index. */
  readonly states: readonly ReplicaState[]
  /** The state of a surge replica that is about to be created. */
  newState(replica: number): ReplicaState
  /** RFC 3339. */
  readonly now: string
}

export interface SetUpdatePlan {
  /** The next progress; undefined if it does not change. */
  readonly progress: PodCliqueSetUpdateProgress | undefined
  /** Undefined for a set that was never updated. */
  readonly condition: ConditionValue | undefined
  /** When the condition changes without any change in the cluster, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

const nothing: SetUpdatePlan = { progress: undefined, condition: undefined, deadline: undefined }

export function planSetUpdate({ set, states: all, newState, now }: SetUpdateInput): SetUpdatePlan {
  const progress = set.status?.updateProgress
  if (isOnDelete(set) || !progress) return nothing
  if (!isUpdating(set)) return { ...nothing, ...updateCondition({ set, updating: [], held: [], now }) }
  const { partition = 0 } = set.spec.updateStrategy ?? {}
  const replicas = set.spec.replicas ?? 0
  const states = all.map(state => state.update())
  // A replica whose update has started is completed, even if it is below the partition now.
  const before = progress.currentlyUpdating ?? []
  const staying = before.filter(({ replicaIndex }) => states[replicaIndex]?.isDone === false)
  const begun = staying.map(({ replicaIndex }) => replicaIndex)
  const selection = selectReplicas({
    strategy: set.spec.updateStrategy,
    replicas,
    states,
    begun,
    surge: surgeReplicas(set),
  })
  const kept = staying.filter(({ replicaIndex }) => replicaIndex < replicas + selection.surge)
  const next = [...selection.next, ...selection.nextSurge]
  const current: ReplicaUpdateProgress[] = [
    ...kept,
    ...next.map(replicaIndex => ({ replicaIndex, updateStartedAt: now })),
  ]
  const underWay = new Set(begun)
  const waiting = states.filter(
    ({ replica, isDone }) => !isDone && replica < replicas && !underWay.has(replica),
  )
  const held = waiting.filter(({ replica, isUpToDate }) => replica < partition && !isUpToDate)
  const isOver =
    current.length === 0 && held.length === 0 && (isPaused(set) ? waiting.length === 0 : !selection.isWaiting)
  const after = isOver ? ended(progress, now) : withCurrent(progress, current, selection.surge)
  const isChanged =
    isOver ||
    next.length > 0 ||
    kept.length < before.length ||
    selection.surge !== (progress.surgeReplicas ?? 0)
  const isBlocked = current.length === 0 && selection.isWaiting && !isPaused(set)
  const awaited = isBlocked ? blocking(states) : current.map(({ replicaIndex }) => replicaIndex)
  return {
    progress: isChanged ? after : undefined,
    ...updateCondition({
      set: { ...set, status: { ...set.status!, updateProgress: after } },
      updating: awaited.map(replica => states[replica] ?? newState(replica).update()),
      held: held.map(({ replica }) => replica),
      now,
    }),
  }
}

/** The replicas that prevent other replicas from being selected. */
function blocking(states: readonly ReplicaUpdateState[]): number[] {
  const idle = states.filter(({ isServing, isScheduled }) => !isServing || !isScheduled)
  return (idle.length ? idle : states.filter(({ isDone }) => !isDone)).map(({ replica }) => replica)
}

/** Replicas whose update has started stay selected for the new revision, and their surge replicas stay. */
function started(
  before: PodCliqueSetUpdateProgress | undefined,
  onDelete: boolean,
  now: string,
): PodCliqueSetUpdateProgress {
  if (onDelete) return { updateStartedAt: now, updateEndedAt: now }
  const { currentlyUpdating = [], surgeReplicas: surge = 0 } = before && isInProgress(before) ? before : {}
  return withCurrent({ updateStartedAt: now }, currentlyUpdating, surge)
}

function withCurrent(
  { currentlyUpdating: _, surgeReplicas: __, ...progress }: PodCliqueSetUpdateProgress,
  current: ReplicaUpdateProgress[],
  surge: number,
): PodCliqueSetUpdateProgress {
  return {
    ...progress,
    ...(current.length && { currentlyUpdating: current }),
    ...(surge && { surgeReplicas: surge }),
  }
}

function ended(progress: PodCliqueSetUpdateProgress, now: string): PodCliqueSetUpdateProgress {
  return { ...withCurrent(progress, [], 0), updateEndedAt: now }
}
