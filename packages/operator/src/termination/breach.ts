// SPDX-License-Identifier: Apache-2.0

// Computes since when an object that was available is in breach. A set that never fitted into the cluster stays pending
// and does not count, because recreating it would give the same pending pods.
import { type Condition, conditionType, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { parseDuration } from '@grove/apimachinery'
import type { StoredSet } from '../layout/stored.ts'
import { wasScheduled } from '../state/breach-condition.ts'
import { findCondition } from '../state/conditions.ts'
import { defaultTerminationDelayMs } from '../timings/timings.ts'

const nanosecondsPerMillisecond = 1_000_000n

export interface Breach {
  /** Milliseconds since the epoch. */
  readonly since: number
  /** The reason of the condition. */
  readonly reason: string
  readonly because: string
}

export function terminationDelayMs(set: StoredSet): number {
  const parsed = parseDuration(set.spec.template.terminationDelay ?? '')
  return parsed.ok ? Number(parsed.nanoseconds / nanosecondsPerMillisecond) : defaultTerminationDelayMs
}

export function cliqueBreach(clique: PodClique): Breach | undefined {
  const condition = breached(clique.status?.conditions)
  if (!condition || !wasScheduled(clique)) return undefined
  return breachBy(`PodClique ${clique.metadata.name}`, condition)
}

/** A group whose replica was terminated is not terminated again before it has recovered. */
export function groupBreach(group: PodCliqueScalingGroup): Breach | undefined {
  const conditions = group.status?.conditions
  const condition = breached(conditions)
  const everHealthy = findCondition(conditions, conditionType.everHealthy) !== undefined
  const isMarked = findCondition(conditions, conditionType.gangTerminationInProgress)?.status === 'True'
  if (!condition || !everHealthy || isMarked) return undefined
  return breachBy(`PodCliqueScalingGroup ${group.metadata.name}`, condition)
}

function breachBy(object: string, { lastTransitionTime, reason, message }: Condition): Breach {
  return { since: Date.parse(lastTransitionTime), reason, because: `${object}: ${message}` }
}

function breached(conditions: readonly Condition[] | undefined): Condition | undefined {
  const condition = findCondition(conditions, conditionType.minAvailableBreached)
  return condition?.status === 'True' ? condition : undefined
}

/** The breach whose delay ends first. */
export function earliest(breaches: readonly (Breach | undefined)[]): Breach | undefined {
  return breaches.filter(breach => breach !== undefined).toSorted((a, b) => a.since - b.since)[0]
}
