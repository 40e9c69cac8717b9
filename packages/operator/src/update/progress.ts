// SPDX-License-Identifier: Apache-2.0

// The progress of an update in the status of a clique or a scaling group: its start, its target, its end, and the
// selected serving unit. A selection is written before the unit is deleted, so that a restarted operator neither
// forgets the unit nor deletes a second one.
import type {
  PodCliqueScalingGroupUpdateProgress,
  PodCliqueUpdateProgress,
  PodsSelectedToUpdate,
  ReplicasSelectedToUpdate,
} from '@grove/api'
import { isInProgress } from '../state/child-state.ts'
import type { UnitSelection } from './units.ts'

/** The revision that an update leads to. */
export interface UpdateTarget {
  readonly generationHash: string
  readonly podTemplateHash: string
}

/** Fields that the progress of cliques and of scaling groups has in common. */
export interface AnyProgress {
  updateStartedAt?: string
  updateEndedAt?: string
}

export interface AnySelection<Id> {
  current: Id
  completed?: Id[]
  currentIndex?: number
}

/** Reads and writes the fields in which the progress of cliques and of scaling groups differs. */
export interface ProgressFields<P extends AnyProgress, S extends AnySelection<string | number>> {
  hashes(target: UpdateTarget): Omit<P, 'updateStartedAt'>
  start(target: UpdateTarget, now: string): P
  leadsTo(progress: P, target: UpdateTarget): boolean
  selectionOf(progress: P): S | undefined
  /** The selection as the planner needs it. Undefined when a scale-in removed the selected unit. */
  selectedUnit(selection: S, replicas: number): UnitSelection<S['current']> | undefined
  withSelection(progress: P, selection: S | undefined): P
}

export const podProgress: ProgressFields<PodCliqueUpdateProgress, PodsSelectedToUpdate> = {
  hashes: ({ generationHash, podTemplateHash }) => ({
    podCliqueSetGenerationHash: generationHash,
    podTemplateHash,
  }),
  start: (target, now) => ({ updateStartedAt: now, ...podProgress.hashes(target) }),
  leadsTo: (progress, target) => progress.podTemplateHash === target.podTemplateHash,
  selectionOf: progress => progress.readyPodsSelectedToUpdate,
  selectedUnit: selection => selection,
  withSelection: ({ readyPodsSelectedToUpdate: _, ...progress }, selection) => ({
    ...progress,
    ...(selection && { readyPodsSelectedToUpdate: selection }),
  }),
}

export const replicaProgress: ProgressFields<PodCliqueScalingGroupUpdateProgress, ReplicasSelectedToUpdate> =
  {
    hashes: ({ generationHash }) => ({ podCliqueSetGenerationHash: generationHash }),
    start: (target, now) => ({ updateStartedAt: now, ...replicaProgress.hashes(target) }),
    leadsTo: (progress, target) => progress.podCliqueSetGenerationHash === target.generationHash,
    selectionOf: progress => progress.readyReplicaIndicesSelectedToUpdate,
    selectedUnit: ({ current }, replicas) =>
      current < replicas ? { current, currentIndex: current } : undefined,
    withSelection: ({ readyReplicaIndicesSelectedToUpdate: _, ...progress }, selection) => ({
      ...progress,
      ...(selection && { readyReplicaIndicesSelectedToUpdate: selection }),
    }),
  }

export interface ProgressInput<P> {
  readonly before: P | undefined
  readonly target: UpdateTarget
  /** Some unit is outdated, or the unit that was replaced last does not serve yet. */
  readonly isUnfinished: boolean
  /** The set has selected the replica that the clique or the scaling group belongs to. */
  readonly mayUpdate: boolean
  /** RFC 3339. */
  readonly now: string
}

/** The progress of an update that the operator executes. */
export function rollingProgress<P extends AnyProgress, S extends AnySelection<string | number>>(
  fields: ProgressFields<P, S>,
  { before, target, isUnfinished, mayUpdate, now }: ProgressInput<P>,
): P | undefined {
  const isSameTarget = before !== undefined && fields.leadsTo(before, target)
  if (isUnfinished && mayUpdate) {
    if (isSameTarget && isInProgress(before)) return before
    // The unit that was replaced for an earlier target may not have recovered. This update waits for it as well.
    const selection = before && isInProgress(before) ? fields.selectionOf(before) : undefined
    return fields.withSelection(fields.start(target, now), selection && withoutCompleted(selection))
  }
  if (!before || isUnfinished) return before
  // A target may be reached without a replacement. Counts in the status refer to it.
  return close(fields, isSameTarget ? before : { ...before, ...fields.hashes(target) }, now)
}

/** The progress of an update that the operator only announces: it starts and ends at the same time. */
export function announcedProgress<P extends AnyProgress, S extends AnySelection<string | number>>(
  fields: ProgressFields<P, S>,
  { before, target, isUnfinished, now }: ProgressInput<P>,
): P | undefined {
  if (before && (fields.leadsTo(before, target) || !isUnfinished)) return close(fields, before, now)
  return isUnfinished ? { ...fields.start(target, now), updateEndedAt: now } : before
}

/** The progress in which a serving unit is selected. */
export function withSelected<Id extends string | number, P extends AnyProgress, S extends AnySelection<Id>>(
  fields: ProgressFields<P, S>,
  progress: P,
  next: Omit<S, 'completed'>,
): P {
  const last = fields.selectionOf(progress)
  const completed = [
    ...(last?.completed ?? []),
    ...(last && last.current !== next.current ? [last.current] : []),
  ]
  const selection = { ...next, ...(completed.length && { completed }) } as S
  return fields.withSelection(progress, selection)
}

function withoutCompleted<S extends AnySelection<string | number>>(selection: S): S {
  const { completed: _, ...rest } = selection
  return rest as S
}

function close<P extends AnyProgress, S extends AnySelection<string | number>>(
  fields: ProgressFields<P, S>,
  progress: P,
  now: string,
): P {
  if (!isInProgress(progress)) return progress
  return { ...fields.withSelection(progress, undefined), updateEndedAt: now }
}
