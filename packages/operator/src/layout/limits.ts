// SPDX-License-Identifier: Apache-2.0

// Replica counts above the limits of the operator configuration, as errors for `status.lastErrors`. The operator
// neither creates, deletes nor updates children of such an object until its count is within the limit again.
import {
  describeExceededLimit,
  type EventValue,
  type ExceededLimit,
  events,
  exceededCliqueLimits,
  exceededGroupLimits,
  exceededLimits,
  exceededTemplateLimits,
  type LastError,
  type LimitsConfiguration,
  type OperatorConfiguration,
  type PodClique,
  setErrorCode,
} from '@grove/api'
import { CodedError } from '../errors/coded-error.ts'
import { groupReplicaOf } from './clique-instance.ts'
import type { ScalingGroupInstance } from './layout.ts'
import type { StoredSet } from './stored.ts'

export class LimitExceeded extends CodedError {
  readonly event: EventValue

  constructor(exceeded: ExceededLimit) {
    const message = describeExceededLimit(exceeded)
    super('Sync', setErrorCode.limitExceeded, message)
    this.event = events.replicaLimitExceeded(message)
  }

  /** Reports whether the status does not contain the error yet. Only then an event is emitted. */
  isNew(lastErrors: readonly LastError[] | undefined): boolean {
    return !lastErrors?.some(({ description }) => description === this.message)
  }
}

export function setLimitExceeded(
  set: StoredSet,
  { limits }: OperatorConfiguration,
): LimitExceeded | undefined {
  return firstOf(exceededLimits(set, limits))
}

/** Counts in the templates concern every child of a set, so the set reports them. */
export function isTemplateTooLarge(set: StoredSet, { limits }: OperatorConfiguration): boolean {
  return exceededTemplateLimits(set, limits).length > 0
}

export function groupLimitExceeded(
  set: StoredSet,
  { config }: ScalingGroupInstance,
  replicas: number,
  { limits }: OperatorConfiguration,
): LimitExceeded | undefined {
  return firstOf(exceededGroupLimits(set, config, replicas, limits))
}

export function cliqueLimitExceeded(
  { spec }: PodClique,
  { limits }: OperatorConfiguration,
): LimitExceeded | undefined {
  return firstOf(exceededCliqueLimits(spec.replicas, limits))
}

/**
 * The number of replicas of a scaling group that have members. The result is capped, because users may edit the index
 * label.
 */
export function replicasWithMembers(
  members: readonly PodClique[],
  { scalingGroupReplicas }: LimitsConfiguration,
): number {
  const indexes = members.map(member => groupReplicaOf(member) ?? -1)
  const count = indexes.reduce((most, index) => Math.max(most, index + 1), 0)
  return Math.min(count, Math.max(scalingGroupReplicas, members.length))
}

function firstOf([first]: readonly ExceededLimit[]): LimitExceeded | undefined {
  return first && new LimitExceeded(first)
}
