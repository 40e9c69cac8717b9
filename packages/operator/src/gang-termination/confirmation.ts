// SPDX-License-Identifier: Apache-2.0

// Before anything is taken down its pods are asked themselves, at the API server. What the operator knows may
// be older than the deadline: one that was paused hears its timers before its watches, and one that starts
// finds the statuses of its predecessor.
import {
  label,
  managedLabels,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  selectorText,
  setErrorCode,
} from '@grove/api'
import { cliqueInstanceOf } from '../clique-instance.ts'
import { CodedError } from '../coded-error.ts'
import type { OperatorContext } from '../operator-context.ts'
import { observeClique } from '../podclique/observed-status.ts'
import { resources } from '../resources.ts'
import { observeGroup } from '../scaling-group/observed-status.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../stored.ts'
import { terminationDelayMs } from './breach.ts'
import { planGroupTermination } from './plan-group.ts'
import { breachOf, type SetTerminationInput } from './plan-set.ts'

/** Whether a replica of a set is still to be taken down. */
export async function isReplicaDue(
  set: StoredSet,
  replica: number,
  { cliqueNamed, groupNamed }: Pick<SetTerminationInput, 'cliqueNamed' | 'groupNamed'>,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<boolean> {
  let ask: Awaited<ReturnType<typeof askPods>>
  try {
    ask = await askPods(set, { [label.setReplicaIndex]: String(replica) }, context, signal)
  } catch (error) {
    const text = `Error asking the pods of replica ${replica} before its termination`
    throw new CodedError('Sync', setErrorCode.computeReplicaDeletion, text, error)
  }
  const asked = {
    set,
    cliqueNamed: (name: string) => ask.clique(cliqueNamed(name)),
    groupNamed: (name: string) => ask.group(groupNamed(name)),
  }
  const breach = breachOf(asked, replica)
  return breach !== undefined && breach.deadline <= context.clock.now()
}

/** Those replicas of a scaling group that are still to be taken down. */
export async function dueReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  replicas: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly number[]> {
  if (replicas.length === 0) return []
  const ask = await askPods(set, { [label.scalingGroup]: group.metadata.name }, context, signal)
  const members = context.world.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroupTermination(
    group,
    members.map(clique => ask.clique(clique)!),
    terminationDelayMs(set),
    context.clock.now(),
  )
  return plan.terminate.filter(replica => replicas.includes(replica))
}

async function askPods(
  set: StoredSet,
  labels: Readonly<Record<string, string>>,
  context: OperatorContext,
  signal: AbortSignal,
) {
  const { namespace, name } = set.metadata
  const labelSelector = selectorText({ ...managedLabels(name), ...labels })
  const { items } = await context.world.client.list(resources.pods, { namespace, labelSelector, signal })
  const byOwner = Map.groupBy(items, pod => ownerOf(pod) ?? '')
  const clique = (known: PodClique | undefined): PodClique | undefined => {
    const instance = known && cliqueInstanceOf(set, known)
    if (!instance) return known
    const pods = byOwner.get(known.metadata.uid ?? '') ?? []
    return { ...known, status: observeClique(set, known as StoredClique, instance, pods, context).status }
  }
  const group = (known: PodCliqueScalingGroup | undefined): PodCliqueScalingGroup | undefined => {
    if (!known) return undefined
    const members = context.world.cliques.byIndex('controller', known.metadata.uid ?? '')
    const asked = members.map(member => clique(member)!)
    return { ...known, status: observeGroup(set, known as StoredScalingGroup, asked, context).status }
  }
  return { clique, group }
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid
}
