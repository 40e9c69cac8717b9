// SPDX-License-Identifier: Apache-2.0

// How a set moves to a new revision: which replicas are updated now, one by default, which is next, and what
// its status says about it. The replicas' children replace what is outdated while it is their turn.
import type {
  ConditionValue,
  PodCliqueSetStatus,
  PodCliqueSetUpdateProgress,
  ReplicaUpdateProgress,
} from '@grove/api'
import { replicaIndexes, surgeReplicas } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf, type SetRevision } from '../revision/set-revision.ts'
import { assessReplica, type ReplicaUpdateInput, type ReplicaUpdateState } from './replica-update.ts'
import { updateCondition } from './set-update-condition.ts'
import { planTurns } from './turns.ts'

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
      // Replicas that are half-way stay those that are disturbed, and what stands in for them stays.
      ...(!onDelete && isUpdatingSet(set) && halfWay(before!.updateProgress!)),
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
const stabilizationMs = 3_000

/** How long the newest revision has to stand still before outdated pods that are not ready go for it. */
export function stabilizesInMs(set: StoredSet, now: number): number {
  const started = Date.parse(set.status?.updateProgress?.updateStartedAt ?? '')
  const age = now - started
  // A clock that was set back must not make anybody wait.
  return age >= 0 && age < stabilizationMs ? stabilizationMs - age : 0
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
  const { partition = 0 } = set.spec.updateStrategy ?? {}
  const replicas = set.spec.replicas ?? 0
  const states = replicaIndexes(set).map(replica => assessReplica(input, replica))
  // What was begun is brought to its end, whatever is held back since.
  const before = progress.currentlyUpdating ?? []
  const staying = before.filter(({ replicaIndex }) => states[replicaIndex]?.isDone === false)
  const begun = staying.map(({ replicaIndex }) => replicaIndex)
  const turns = planTurns({
    strategy: set.spec.updateStrategy,
    replicas,
    states,
    begun,
    surge: surgeReplicas(set),
  })
  const kept = staying.filter(({ replicaIndex }) => replicaIndex < replicas + turns.surge)
  const next = [...turns.next, ...turns.nextSurge]
  const current: ReplicaUpdateProgress[] = [
    ...kept,
    ...next.map(replicaIndex => ({ replicaIndex, updateStartedAt: now })),
  ]
  const waiting = states.filter(
    ({ replica, isDone }) => !isDone && replica < replicas && !begun.includes(replica),
  )
  const held = waiting.filter(({ replica, isUpToDate }) => replica < partition && !isUpToDate)
  const isOver =
    current.length === 0 && held.length === 0 && (isPaused(set) ? waiting.length === 0 : !turns.isWaiting)
  const after = isOver ? ended(progress, now) : withCurrent(progress, current, turns.surge)
  const isChanged =
    isOver || next.length > 0 || kept.length < before.length || turns.surge !== (progress.surgeReplicas ?? 0)
  const isBlocked = current.length === 0 && turns.isWaiting && !isPaused(set)
  const awaited = isBlocked ? blocking(states) : current.map(({ replicaIndex }) => replicaIndex)
  return {
    progress: isChanged ? after : undefined,
    ...updateCondition({
      set: { ...set, status: { ...set.status!, updateProgress: after } },
      updating: awaited.map(replica => states[replica] ?? assessReplica(input, replica)),
      held: held.map(({ replica }) => replica),
      now,
    }),
  }
}

/** What nothing begins for: it serves nobody itself, or waits for a place, or has to say where it stands. */
function blocking(states: readonly ReplicaUpdateState[]): number[] {
  const idle = states.filter(({ isServing, isPlaced }) => !isServing || !isPlaced)
  return (idle.length ? idle : states.filter(({ isDone }) => !isDone)).map(({ replica }) => replica)
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

/** What is there of an update, whatever it goes to. */
function halfWay({ currentlyUpdating, surgeReplicas: surge }: PodCliqueSetUpdateProgress) {
  return { ...(currentlyUpdating && { currentlyUpdating }), ...(surge && { surgeReplicas: surge }) }
}

function ended(progress: PodCliqueSetUpdateProgress, now: string): PodCliqueSetUpdateProgress {
  return { ...withCurrent(progress, [], 0), updateEndedAt: now }
}
