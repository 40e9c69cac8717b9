// SPDX-License-Identifier: Apache-2.0

// The states that metrics count. Every object has exactly one.
import { conditionType, type Pod, updateProgressing } from '@grove/api'
import { scalingGroupConfigs } from '../layout/layout.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { isAvailable } from '../podcliqueset/status.ts'
import { isInitialized, isUpdating } from '../state/child-state.ts'
import { findCondition } from '../state/conditions.ts'
import { isFinished, isReady, isScheduled, isScheduleGated, isTerminating } from '../state/pod-state.ts'
import type { gangStates, podStates, setStates, sizeClasses, updateStates } from './catalogue.ts'

export type SetState = (typeof setStates)[number]
export type GangState = (typeof gangStates)[number]
export type PodState = (typeof podStates)[number]
export type UpdateState = (typeof updateStates)[number]
export type SizeClass = (typeof sizeClasses)[number]

export function stateOfSet(set: StoredSet): SetState {
  if (set.metadata.deletionTimestamp) return 'terminating'
  if (set.status?.lastErrors?.length) return 'failing'
  if (isUpdating(set)) return 'updating'
  return isAvailable(set) ? 'available' : 'unavailable'
}

const gangStateOfPhase: Readonly<Record<string, GangState>> = {
  Starting: 'starting',
  Running: 'running',
  Failed: 'failed',
  Succeeded: 'succeeded',
}

export function stateOfGang(gang: StoredGang): GangState {
  if (gang.metadata.deletionTimestamp) return 'terminating'
  if (!isInitialized(gang)) return 'incomplete'
  const isUnhealthy =
    findCondition(gang.status?.conditions, conditionType.podGangUnhealthy)?.status === 'True'
  return isUnhealthy ? 'unhealthy' : (gangStateOfPhase[gang.status?.phase ?? ''] ?? 'pending')
}

export function stateOfPod(pod: Pod): PodState {
  if (isTerminating(pod)) return 'terminating'
  if (isFinished(pod)) return 'finished'
  if (isReady(pod)) return 'ready'
  if (isScheduled(pod)) return 'starting'
  return isScheduleGated(pod) || pod.spec?.schedulingGates?.length ? 'gated' : 'pending'
}

const updateStateOfReason: Readonly<Record<string, UpdateState>> = {
  [updateProgressing.paused('').reason]: 'paused',
  [updateProgressing.partitioned('').reason]: 'partitioned',
  [updateProgressing.deadlineExceeded('').reason]: 'deadline_exceeded',
}

/** Undefined for a set that is not being updated. */
export function stateOfUpdate(set: StoredSet): UpdateState | undefined {
  if (!isUpdating(set) || set.metadata.deletionTimestamp) return undefined
  const condition = findCondition(set.status?.conditions, conditionType.updateProgressing)
  return updateStateOfReason[condition?.reason ?? ''] ?? 'progressing'
}

/** The number of pods that the template of a set asks for. Scaled children may differ. */
export function podCount(set: StoredSet): number {
  const groups = new Map(
    scalingGroupConfigs(set).flatMap(({ cliqueNames, replicas = 1 }) =>
      cliqueNames.map(name => [name, replicas] as const),
    ),
  )
  const perReplica = set.spec.template.cliques.reduce(
    (sum, { name, spec }) => sum + spec.replicas * (groups.get(name) ?? 1),
    0,
  )
  return perReplica * (set.spec.replicas ?? 0)
}

export function sizeClassOf(pods: number): SizeClass {
  if (pods < 10) return '1-9'
  if (pods < 100) return '10-99'
  return pods < 1000 ? '100-999' : '1000+'
}
