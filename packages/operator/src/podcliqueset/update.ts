// SPDX-License-Identifier: Apache-2.0

// How a set moves to a new revision: which replicas are updated now, one by default, which is next, and what
// its status says about it. The replicas' children replace what is outdated while it is their turn.
import type {
  ConditionValue,
  PodCliqueSetStatus,
  PodCliqueSetUpdateProgress,
  ReplicaUpdateProgress,
} from '@grove/api'
import { range } from '../layout.ts'
import { revisionOf, type SetRevision } from '../revision-of-set.ts'
import type { StoredSet } from '../stored.ts'
import { assessReplica, type ReplicaUpdateInput, type ReplicaUpdateState } from './replica-update.ts'
import { updateCondition } from './update-condition.ts'

/**
 * The status with which a set begins a pass: a new revision starts an update, a known one leaves it alone.
 */
export function statusForRevision(
  set: StoredSet,
  { generationHash }: Pick<SetRevision, 'generationHash'>,
  isCurrentGeneration: (stored: string) => boolean,
  /** Cliques of another revision, made by somebody who died before the first status was written. */
  hasStrays: boolean,
  now: string,
): PodCliqueSetStatus | undefined {
  const before = set.status
  const stored = before?.currentGenerationHash
  const onDelete = isOnDelete(set)
  if (stored === generationHash) {
    // The strategy was changed in the middle of an update: it is not ours to finish any more.
    return onDelete && isUpdatingSet(set)
      ? { ...before!, updateProgress: ended(before!.updateProgress!, now) }
      : undefined
  }
  const status: PodCliqueSetStatus = {
    ...(before ?? { availableReplicas: 0, updatedReplicas: 0 }),
    currentGenerationHash: generationHash,
  }
  if (stored === undefined ? !hasStrays : isCurrentGeneration(stored)) return status
  return {
    ...status,
    updatedReplicas: 0,
    updateProgress: {
      updateStartedAt: now,
      ...(onDelete && { updateEndedAt: now }),
      // Replicas that are half-way stay those that are disturbed.
      ...(!onDelete && before?.updateProgress?.currentlyUpdating && isUpdatingSet(set)
        ? { currentlyUpdating: before.updateProgress.currentlyUpdating }
        : {}),
    },
  }
}

export function isOnDelete(set: StoredSet): boolean {
  return set.spec.updateStrategy?.type === 'OnDelete'
}

export function isPaused(set: StoredSet): boolean {
  return set.spec.updateStrategy?.paused === true
}

export function isUpdatingSet(set: StoredSet): boolean {
  return isUnderWay(set.status?.updateProgress)
}

export function isUnderWay(progress: PodCliqueSetUpdateProgress | undefined): boolean {
  return progress !== undefined && progress.updateEndedAt === undefined
}

/** The replicas whose children may replace pods now. */
export function updatingReplicas(set: StoredSet): number[] {
  return (set.status?.updateProgress?.currentlyUpdating ?? []).map(({ replicaIndex }) => replicaIndex)
}

/**
 * Between an edit and its announcement nothing is made of it: the progress is that of another revision, and
 * what is taken back before it was announced was never heard of. A set of which nothing was announced is new.
 */
export function isAnnounced(set: StoredSet): boolean {
  const announced = set.status?.currentGenerationHash
  return announced === undefined || announced === revisionOf(set).generationHash
}

/** Whether it is the turn of this replica's children to replace what is outdated. */
export function mayUpdate(set: StoredSet, replica: number): boolean {
  return !isOnDelete(set) && isUpdatingSet(set) && updatingReplicas(set).includes(replica) && isAnnounced(set)
}

/** Whether a running update is not to reach this replica for now: what stands in it keeps its template. */
export function isHeldBack(set: StoredSet, replica: number): boolean {
  if (isOnDelete(set) || !isUpdatingSet(set) || updatingReplicas(set).includes(replica)) return false
  return isPaused(set) || replica < (set.spec.updateStrategy?.partition ?? 0)
}

/**
 * A burst of edits ends within this; until then pods that are still starting are not given up for the newest.
 */
const settleMs = 3_000

/** How long the newest revision has to stand still before outdated pods that are not ready go for it. */
export function settlesInMs(set: StoredSet, now: number): number {
  const started = Date.parse(set.status?.updateProgress?.updateStartedAt ?? '')
  const age = now - started
  // A clock that was set back must not make anybody wait.
  return age >= 0 && age < settleMs ? settleMs - age : 0
}

export interface SetUpdateInput extends ReplicaUpdateInput {
  /** RFC 3339. */
  readonly now: string
}

export interface SetUpdatePlan {
  /** The next state of the update; undefined when it stays as it is. */
  readonly progress: PodCliqueSetUpdateProgress | undefined
  /** How it gets on, or why it waits; undefined for a set that we never updated. */
  readonly condition: ConditionValue | undefined
  /** When the condition changes by itself, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

const nothing: SetUpdatePlan = { progress: undefined, condition: undefined, deadline: undefined }

export function planSetUpdate(input: SetUpdateInput): SetUpdatePlan {
  const { set, now } = input
  const progress = set.status?.updateProgress
  if (isOnDelete(set) || !progress) return nothing
  if (!isUpdatingSet(set)) return { ...nothing, ...updateCondition({ set, updating: [], held: [], now }) }
  const { maxUnavailable = 1, partition = 0 } = set.spec.updateStrategy ?? {}
  const states = range(0, set.spec.replicas ?? 0).map(replica => assessReplica(input, replica))
  // What was begun is brought to its end, whatever is held back since.
  const before = progress.currentlyUpdating ?? []
  const staying = before.filter(({ replicaIndex }) => states[replicaIndex]?.isDone === false)
  const isBegun = (replica: number) => staying.some(({ replicaIndex }) => replicaIndex === replica)
  const waiting = states.filter(({ replica, isDone }) => !isDone && !isBegun(replica))
  const next = isPaused(set)
    ? []
    : waiting
        .filter(({ replica }) => replica >= partition)
        .sort(leastLossFirst)
        .slice(0, Math.max(0, maxUnavailable - staying.length))
  const current: ReplicaUpdateProgress[] = [
    ...staying,
    ...next.map(({ replica }) => ({ replicaIndex: replica, updateStartedAt: now })),
  ]
  const held = waiting.filter(({ replica, isUpToDate }) => replica < partition && !isUpToDate)
  const isOver = current.length === 0 && held.length === 0 && (!isPaused(set) || waiting.length === 0)
  const after = isOver ? ended(progress, now) : withCurrent(progress, current)
  return {
    progress: isOver || next.length > 0 || staying.length < before.length ? after : undefined,
    ...updateCondition({
      set: { ...set, status: { ...set.status!, updateProgress: after } },
      updating: current.map(({ replicaIndex }) => states[replicaIndex]!),
      held: held.map(({ replica }) => replica),
      now,
    }),
  }
}

/** Replicas that serve nobody lose nothing; then those that do not serve well enough; then the lowest. */
function leastLossFirst(a: ReplicaUpdateState, b: ReplicaUpdateState): number {
  return (
    Number(a.scheduledPods > 0) - Number(b.scheduledPods > 0) ||
    Number(a.isAvailable) - Number(b.isAvailable) ||
    a.replica - b.replica
  )
}

function withCurrent(
  { currentlyUpdating: _, ...progress }: PodCliqueSetUpdateProgress,
  current: ReplicaUpdateProgress[],
): PodCliqueSetUpdateProgress {
  return current.length ? { ...progress, currentlyUpdating: current } : progress
}

function ended(progress: PodCliqueSetUpdateProgress, now: string): PodCliqueSetUpdateProgress {
  return { ...withCurrent(progress, []), updateEndedAt: now }
}
