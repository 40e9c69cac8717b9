// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import { type Verdict, withCondition, withoutCondition } from '../conditions.ts'
import type { Deployment, ReplicaSet } from '../kinds.ts'
import { timestamp } from '../timestamp.ts'
import { boundsOf } from './rollout.ts'

type Status = NonNullable<Deployment['status']>
type Condition = NonNullable<Status['conditions']>[number]

const defaultDeadlineSeconds = 600

/** The counts and conditions that `kubectl get` and `kubectl rollout status` show. */
export function deploymentStatus(
  deployment: Stored<Deployment>,
  current: Stored<ReplicaSet> | undefined,
  sets: readonly Stored<ReplicaSet>[],
  justCreated: boolean,
  now: number,
): Status {
  const sum = (field: 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas') =>
    sets.reduce((total, { status }) => total + (status?.[field] ?? 0), 0)
  const available = sum('availableReplicas')
  const counts = {
    observedGeneration: deployment.metadata.generation,
    replicas: sum('replicas'),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(
      0,
      sets.reduce((total, { spec }) => total + (spec?.replicas ?? 0), 0) - available,
    ),
    terminatingReplicas: sum('terminatingReplicas'),
    ...(deployment.status?.collisionCount && { collisionCount: deployment.status.collisionCount }),
  }
  let conditions: readonly Condition[] = deployment.status?.conditions ?? []
  conditions = withCondition(conditions, availability(deployment, available), now, {
    lastUpdateTime: timestamp(now),
  })
  conditions = progress(deployment, current, counts, conditions, justCreated, now)
  const failure = current?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  )
  conditions = failure
    ? withCondition(
        conditions,
        { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message: failure.message },
        now,
        { lastUpdateTime: timestamp(now) },
      )
    : withoutCondition(conditions, 'ReplicaFailure')
  return { ...counts, conditions: [...conditions] }
}

function availability(deployment: Stored<Deployment>, available: number): Verdict {
  const enough = available >= (deployment.spec?.replicas ?? 1) - boundsOf(deployment).unavailable
  return enough
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      }
}

type Counts = Pick<Status, 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>

function progress(
  deployment: Stored<Deployment>,
  current: Stored<ReplicaSet> | undefined,
  counts: Counts,
  conditions: readonly Condition[],
  justCreated: boolean,
  now: number,
): readonly Condition[] {
  const deadline = deployment.spec?.progressDeadlineSeconds ?? defaultDeadlineSeconds
  if (!current) return conditions
  const name = current.metadata.name
  const known = conditions.find(({ type }) => type === 'Progressing')
  const progressing = (reason: string, message: string, status: 'True' | 'False' = 'True') =>
    withCondition(conditions, { type: 'Progressing', status, reason, message }, now, {
      lastUpdateTime: timestamp(now),
    })
  if (isComplete(deployment, counts))
    return progressing('NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`)
  if (justCreated) return progressing('NewReplicaSetCreated', `Created new replica set "${name}"`)
  if (hasProgressed(deployment.status, counts)) {
    // Every step restarts the deadline, so the time changes even if the message does not.
    const others = conditions.filter(({ type }) => type !== 'Progressing')
    const lastTransitionTime = known?.status === 'True' ? known.lastTransitionTime : timestamp(now)
    const message = `ReplicaSet "${name}" is progressing.`
    return [
      ...others,
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message,
        lastTransitionTime,
        lastUpdateTime: timestamp(now),
      },
    ]
  }
  if (known && known.reason !== 'NewReplicaSetAvailable' && now >= deadlineOf(known, deadline))
    return progressing('ProgressDeadlineExceeded', `ReplicaSet "${name}" has timed out progressing.`, 'False')
  return conditions
}

/** The time at which a rollout without progress exceeds its deadline. */
export function progressDeadline(deployment: Stored<Deployment>, status: Status): number | undefined {
  const known = status.conditions?.find(({ type }) => type === 'Progressing')
  if (!known || known.status === 'False' || isComplete(deployment, status)) return undefined
  return deadlineOf(known, deployment.spec?.progressDeadlineSeconds ?? defaultDeadlineSeconds)
}

function deadlineOf({ lastUpdateTime }: Condition, seconds: number): number {
  return Date.parse(lastUpdateTime ?? '') + seconds * 1_000
}

function isComplete(deployment: Stored<Deployment>, counts: Counts): boolean {
  const wanted = deployment.spec?.replicas ?? 1
  return (
    counts.updatedReplicas === wanted && counts.replicas === wanted && counts.availableReplicas === wanted
  )
}

function hasProgressed(old: Status | undefined, counts: Counts): boolean {
  return (
    (counts.updatedReplicas ?? 0) > (old?.updatedReplicas ?? 0) ||
    (counts.readyReplicas ?? 0) > (old?.readyReplicas ?? 0) ||
    (counts.availableReplicas ?? 0) > (old?.availableReplicas ?? 0) ||
    (old?.replicas ?? 0) - (old?.updatedReplicas ?? 0) >
      (counts.replicas ?? 0) - (counts.updatedReplicas ?? 0)
  )
}
