// SPDX-License-Identifier: Apache-2.0

// Before the operator terminates a replica, it lists the pods of the replica at the API server. Its caches may be older
// than the deadline: after a pause timers fire before watches deliver, and a restarted operator reads the statuses of
// its predecessor.
import {
  label,
  managedLabels,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroupStatus,
  type PodCliqueStatus,
  selectorText,
} from '@grove/api'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { terminationDelayMs } from './breach.ts'
import { planGroupTermination } from './plan-group.ts'
import { breachedReplica, replicaBreach } from './plan-set.ts'

/** Plans the statuses of objects for the given pods and cliques, with the code of their controllers. */
export interface StatusPlanners {
  ofClique(
    set: StoredSet,
    clique: StoredClique,
    instance: CliqueInstance,
    pods: readonly Pod[],
  ): PodCliqueStatus
  ofGroup(
    set: StoredSet,
    group: StoredScalingGroup,
    cliques: readonly PodClique[],
  ): PodCliqueScalingGroupStatus
}

interface LiveObjects {
  cliqueNamed(name: string): StoredClique | undefined
  groupNamed(name: string): StoredScalingGroup | undefined
}

/** Reports whether a replica of a set still has to be terminated. */
export async function isReplicaDue(
  set: StoredSet,
  replica: number,
  { cliqueNamed, groupNamed }: LiveObjects,
  statuses: StatusPlanners,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<boolean> {
  let present: PresentStatuses
  try {
    const labels = { [label.setReplicaIndex]: String(replica) }
    present = await presentStatuses(set, labels, statuses, context, signal)
  } catch (error) {
    throw setErrors.confirmTermination(replica)(error)
  }
  const breach = replicaBreach(
    {
      set,
      cliqueNamed: name => present.clique(cliqueNamed(name)),
      groupNamed: name => present.group(groupNamed(name)),
    },
    replica,
  )
  const breached = breach && breachedReplica(set, replica, breach)
  return breached !== undefined && breached.deadline <= context.clock.now()
}

/** The replicas of a scaling group that still have to be terminated. */
export async function dueReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  replicas: readonly number[],
  statuses: StatusPlanners,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly number[]> {
  if (replicas.length === 0) return []
  const labels = { [label.scalingGroup]: group.metadata.name }
  const present = await presentStatuses(set, labels, statuses, context, signal)
  const members = context.caches.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroupTermination(
    group,
    members.map(clique => present.clique(clique)!),
    terminationDelayMs(set),
    context.clock.now(),
  )
  return plan.terminate.filter(replica => replicas.includes(replica))
}

/** Objects with the statuses that follow from their present pods. */
interface PresentStatuses {
  clique(known: StoredClique | undefined): StoredClique | undefined
  group(known: StoredScalingGroup | undefined): StoredScalingGroup | undefined
}

/** Lists the pods with these labels at the API server. */
async function presentStatuses(
  set: StoredSet,
  labels: Readonly<Record<string, string>>,
  statuses: StatusPlanners,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<PresentStatuses> {
  const { namespace, name } = set.metadata
  const labelSelector = selectorText({ ...managedLabels(name), ...labels })
  const { items } = await context.caches.client.list(resources.pods, { namespace, labelSelector, signal })
  const byOwner = Map.groupBy(items, pod => ownerOf(pod) ?? '')
  const clique = (known: StoredClique | undefined): StoredClique | undefined => {
    const instance = known && cliqueInstanceOf(set, known)
    if (!instance) return known
    const pods = byOwner.get(known.metadata.uid) ?? []
    return { ...known, status: statuses.ofClique(set, known, instance, pods) }
  }
  const group = (known: StoredScalingGroup | undefined): StoredScalingGroup | undefined => {
    if (!known) return undefined
    const members = context.caches.cliques.byIndex('controller', known.metadata.uid)
    const listed = members.map(member => clique(member)!)
    return { ...known, status: statuses.ofGroup(set, known, listed) }
  }
  return { clique, group }
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid
}
