// SPDX-License-Identifier: Apache-2.0

// Computes the status of a ClusterTopologyBinding from each scheduler's own topology.
import {
  type ClusterTopologyBinding,
  type ClusterTopologyBindingStatus,
  type Condition,
  type ConditionValue,
  conditionType,
  type EventValue,
  events,
  type SchedulerTopologyStatus,
  schedulerTopologyDrift,
} from '@grove/api'
import { findCondition, withCondition, withoutCondition } from '../state/conditions.ts'

export interface TopologyResult {
  readonly entry: SchedulerTopologyStatus
  /** The scheduler's topology could not be read or written. The reconcile is retried. */
  readonly failed: boolean
}

export interface BindingStatusInput {
  readonly binding: ClusterTopologyBinding
  /** One per enabled scheduler that supports topologies, by name. */
  readonly results: readonly TopologyResult[]
  /** Names of the schedulers that support topologies. */
  readonly available: ReadonlySet<string>
  readonly now: string
}

export interface BindingStatusPlan {
  readonly status: ClusterTopologyBindingStatus
  readonly events: readonly EventValue[]
}

export function planBindingStatus({
  binding,
  results,
  available,
  now,
}: BindingStatusInput): BindingStatusPlan {
  const unavailable = (binding.spec.schedulerTopologyBindings ?? [])
    .filter(({ schedulerName }) => !available.has(schedulerName))
    .map(({ schedulerName, topologyReference }) => ({
      schedulerName,
      topologyReference,
      inSync: false,
      message: `scheduler backend "${schedulerName}" is not available for topology management`,
    }))
  const entries = [...results.map(({ entry }) => entry), ...unavailable]
  const failed = results.some(result => result.failed)
  const condition = drift(entries, unavailable.length > 0)
  const before = binding.status?.conditions
  const wasStatus = findCondition(before, conditionType.schedulerTopologyDrift)?.status
  return {
    status: {
      ...binding.status,
      ...(!failed && { observedGeneration: binding.metadata.generation }),
      schedulerTopologyStatuses: entries,
      conditions: conditionsAfter(before, condition, binding.metadata.generation, now),
    },
    events: condition && condition.status !== wasStatus ? eventsFor(condition) : [],
  }
}

function drift(
  entries: readonly SchedulerTopologyStatus[],
  someUnavailable: boolean,
): ConditionValue | undefined {
  if (entries.length === 0) return undefined
  if (someUnavailable) return schedulerTopologyDrift.backendUnavailable
  return entries.every(entry => entry.inSync) ? schedulerTopologyDrift.inSync : schedulerTopologyDrift.drifted
}

function eventsFor({ status }: ConditionValue): EventValue[] {
  if (status === 'True') return [events.topologyDrifted()]
  return status === 'False' ? [events.topologyInSync()] : []
}

function conditionsAfter(
  before: readonly Condition[] | undefined,
  condition: ConditionValue | undefined,
  generation: number | undefined,
  now: string,
): Condition[] {
  if (!condition) return [...(withoutCondition(before, conditionType.schedulerTopologyDrift) ?? [])]
  return withCondition(before, condition, now).map(one =>
    one.type === condition.type && generation !== undefined
      ? { ...one, observedGeneration: generation }
      : one,
  )
}
