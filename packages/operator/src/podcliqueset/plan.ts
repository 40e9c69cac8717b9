// SPDX-License-Identifier: Apache-2.0

// The writes of a PodCliqueSet to itself: its finalizer, the announcement of a revision, its status. Pure. Its
// children are planned in components.ts.
import {
  type ConditionValue,
  conditionType,
  finalizer,
  type LastError,
  type PodCliqueSetStatus,
  type PodCliqueSetUpdateProgress,
} from '@grove/api'
import type { Intent } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import { replicaCount } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { LiveChildren } from '../revision/foreign-hashes.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isInProgress } from '../state/child-state.ts'
import { findCondition } from '../state/conditions.ts'
import { planSetUpdate, statusForRevision } from '../update/set-update.ts'
import type { SetSnapshot } from './observe.ts'
import { planStall } from './stall.ts'
import { planSetStatus } from './status.ts'
import { topologyCondition } from './topology-condition.ts'

export function finalizerOf(set: StoredSet): Intent[] {
  const { resourceVersion, finalizers = [] } = set.metadata
  if (finalizers.includes(finalizer.podCliqueSet)) return []
  const metadata = { resourceVersion, finalizers: [...finalizers, finalizer.podCliqueSet] }
  return [{ kind: 'patch', resource: resources.podCliqueSets, object: set, merge: { metadata } }]
}

/**
 * The status that announces a new revision; undefined if it is announced already. Children follow the announced
 * revision.
 */
export function announcement(
  set: StoredSet,
  witnesses: () => LiveChildren,
  now: string,
): PodCliqueSetStatus | undefined {
  const revision = revisionOf(set)
  const isKnown = set.status?.currentGenerationHash !== undefined
  // Read only if the status does not decide it, because there may be many.
  const hasStrays =
    !isKnown && witnesses().cliques.some(clique => !revision.isCurrent(clique, templateHashOfClique(clique)))
  const status = statusForRevision({
    set,
    generationHash: revision.generationHash,
    isCurrentGeneration: stored => revision.isCurrentGeneration(stored, witnesses()),
    hasStrays,
    now,
  })
  // The first status write of a new set includes the hash.
  return isKnown || hasStrays ? status : undefined
}

export interface StatusOptions {
  /** True if this reconcile has announced the revision. */
  readonly isAnnounced: boolean
  /** True if the children are in sync. If not, the update stays unchanged. */
  readonly isSynced: boolean
  readonly lastErrors: readonly LastError[]
  readonly now: string
}

export interface PlannedStatus {
  readonly status: PodCliqueSetStatus
  /** When a condition changes without an event, in milliseconds since the epoch. */
  readonly deadline: number | undefined
}

export function planStatus(
  snapshot: SetSnapshot,
  { isAnnounced, isSynced, lastErrors, now }: StatusOptions,
): PlannedStatus {
  const { set, configuration } = snapshot
  const { newReplica: newState } = snapshot
  const update = isSynced ? planSetUpdate({ set, states: snapshot.allReplicas(), newState, now }) : undefined
  const progress = update?.progress
  const planned = progress ? withProgress(set, progress) : set
  const { generation } = set.metadata
  // Users read observedGeneration as "applied", so it is not set while an update runs or gangs wait for pods.
  const isFullyApplied =
    lastErrors.length === 0 &&
    isSynced &&
    generation !== undefined &&
    (set.status?.observedGeneration === generation ||
      (!isInProgress(progress ?? set.status?.updateProgress) && snapshot.areGangsComplete()))
  const before = findCondition(set.status?.conditions, conditionType.updateProgressing)
  const condition = update ? update.condition : (before as ConditionValue | undefined)
  const gangs = snapshot.gangs()
  const stall = planStall({
    lastErrors,
    obstacles: snapshot.obstacles(),
    gangObstacles: gangs?.flatMap(({ obstacle }) => obstacle ?? []) ?? [],
    update: condition,
    now,
  })
  const status: PodCliqueSetStatus = {
    ...planSetStatus({
      set: planned,
      states: snapshot.existingReplicas(replicaCount(planned)),
      // A revision in the status counts as announced.
      generationHash: isAnnounced ? revisionOf(set).generationHash : undefined,
      topology: topologyCondition(set, configuration.topologyAwareScheduling.enabled, snapshot.bindingNamed),
      update: condition,
      stalled: stall.condition,
      gangs: gangs?.map(({ summary }) => summary),
      now,
    }),
    ...(isFullyApplied && { observedGeneration: generation }),
    lastErrors: [...lastErrors],
  }
  const deadlines = [update?.deadline, stall.deadline].filter(one => one !== undefined)
  return { status, deadline: deadlines.length ? Math.min(...deadlines) : undefined }
}

function withProgress(set: StoredSet, updateProgress: PodCliqueSetUpdateProgress): StoredSet {
  return { ...set, status: { ...set.status!, replicas: set.spec.replicas ?? 0, updateProgress } }
}

export function statusWrite(object: StoredSet, status: unknown): Intent {
  return { kind: 'writeStatus', resource: resources.podCliqueSets, object, status }
}
