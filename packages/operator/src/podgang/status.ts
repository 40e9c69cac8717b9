// SPDX-License-Identifier: Apache-2.0

// The status of a PodGang, derived from its pods, and the cause for which it is not scheduled. Pure. If the scheduler
// writes this status itself, the operator only sets its own condition, Initialized.
import {
  type ConditionValue,
  derivedGangStatus,
  type GangWait,
  gangProgress,
  gangWaits,
  names,
  type Pod,
  type PodGang,
  type PodGangStatus,
  unschedulable,
} from '@grove/api'
import { type CliqueInstance, minAvailableOfClique, type PodGangInstance } from '../layout/layout.ts'
import { withCondition } from '../state/conditions.ts'
import { hasOurGate, isActive, unschedulableMessage } from '../state/pod-state.ts'
import { type GangMembers, gangPods } from './complete.ts'

/** Sets the operator's own condition, and the phase while it is empty. */
export function statusWith(gang: PodGang, initialized: ConditionValue, now: string): PodGangStatus {
  const before = gang.status
  const { generation: observedGeneration = 1 } = gang.metadata
  const conditions = withCondition(before?.conditions, initialized, now)
  return {
    ...before,
    phase: before?.phase || 'Pending',
    // Sets the present generation, even if nothing else changes.
    conditions: conditions.map(one => (one.type === initialized.type ? { ...one, observedGeneration } : one)),
  }
}

export interface GangStatusInput {
  readonly set: { readonly metadata: { readonly name: string } }
  readonly instance: PodGangInstance
  readonly members: GangMembers
  readonly schedulerName: string
  readonly initialized: ConditionValue
  /** The message of the object that the scheduler reads for the gang; undefined if it has none. */
  readonly schedulerMessage: string | undefined
}

/** Adds phase and conditions that follow from the pods. */
export function statusFromPods(gang: PodGang, input: GangStatusInput, now: string): PodGangStatus {
  const pods = new Map(input.instance.cliques.map(({ name }) => [name, activePods(name, input)]))
  const podsOf = (name: string) => pods.get(name) ?? []
  const progress = gangProgress(gang, podsOf)
  const lacking = new Set(
    progress.groups.filter(({ bound, minReplicas }) => bound < minReplicas).map(({ name }) => name),
  )
  const cliques = input.instance.cliques.filter(({ name }) => lacking.has(name))
  return derivedGangStatus(gang, progress, gangWait(cliques, podsOf, input), now)
}

function activePods(clique: string, { instance, members }: GangStatusInput): Pod[] {
  return gangPods(instance.name, clique, members).filter(isActive)
}

/** The cause for which fewer than the minimum of pods of these cliques are scheduled. */
function gangWait(
  cliques: readonly CliqueInstance[],
  podsOf: (clique: string) => readonly Pod[],
  { set, instance, members, schedulerName, initialized, schedulerMessage }: GangStatusInput,
): GangWait {
  if (initialized.status !== 'True') return { reason: gangWaits.podsNotCreated, message: initialized.message }
  for (const { name } of cliques) {
    const gated = firstByName(podsOf(name).filter(pod => pod.spec?.schedulingGates?.length))
    if (gated && instance.scaled && hasOurGate(gated))
      return {
        reason: gangWaits.baseGangNotScheduled,
        message: `waits until base gang ${names.basePodGang(set.metadata.name, instance.setReplica)} is scheduled`,
      }
    if (gated)
      return {
        reason: gangWaits.podsGated,
        message: `pods of PodClique ${name} wait for scheduling gate ${gated.spec!.schedulingGates![0]!.name}`,
      }
  }
  for (const { name } of cliques) {
    const pod = firstByName(podsOf(name).filter(one => unschedulableMessage(one) !== undefined))
    if (pod) return { reason: unschedulable, message: `PodClique ${name}: ${unschedulableMessage(pod)}` }
  }
  if (schedulerMessage) return { reason: unschedulable, message: schedulerMessage }
  for (const clique of cliques) {
    const replicas = members.isScaledAway(clique) ? 0 : members.cliqueNamed(clique.name)?.spec.replicas
    if (replicas === undefined || podsOf(clique.name).length < replicas) continue
    if (replicas < minAvailableOfClique(clique.template))
      return {
        reason: gangWaits.scaledBelowMinimum,
        message: `PodClique ${clique.name} is scaled to ${replicas}, which is below its minAvailable`,
      }
  }
  return {
    reason: gangWaits.notYetEvaluated,
    message: `scheduler ${schedulerName} has not reported on the gang yet`,
  }
}

/** Chooses the same pod in every reconcile, as long as it exists. */
function firstByName(pods: readonly Pod[]): Pod | undefined {
  return pods.reduce<Pod | undefined>(
    (first, pod) => (first && nameOf(first) <= nameOf(pod) ? first : pod),
    undefined,
  )
}

function nameOf({ metadata }: Pod): string {
  return metadata.name ?? ''
}
