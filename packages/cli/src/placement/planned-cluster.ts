// SPDX-License-Identifier: Apache-2.0

// Plans sets that are not applied yet, and the waiting gangs of the cluster.
import { label, type Pod, podSchedulingGate, type ResourceClaim } from '@grove/api'
import {
  type Decision,
  defaultPolicy,
  defaultSchedulerName,
  type Gang,
  type GangDecision,
  type Policy,
  plan,
  type Snapshot,
  type SnapshotObjects,
  snapshotFrom,
} from '@grove/scheduler'
import { baseGangOf, type RenderedSet } from './rendered-sets.ts'
import { isWaiting, keyOf, missingGang, schedulersOf } from './waiting-gangs.ts'

export interface PlannedCluster {
  /** The snapshot of the plan, in which gates are removed as the verdicts allow. */
  readonly snapshot: Snapshot
  /** Decisions for the gangs that were asked for, in planning order. */
  readonly gangs: readonly GangDecision[]
  readonly steps: number
}

export interface PlanInput {
  readonly objects: SnapshotObjects
  readonly sets: readonly RenderedSet[]
  /** Also plan the waiting gangs of the cluster. */
  readonly pending: boolean
  /** In milliseconds since 1970. */
  readonly now: number
  readonly policy?: Policy
}

/** Plans everything in one order. Pods of a scaled gang lose their gate only if the base gang is scheduled. */
export function planCluster(input: PlanInput): PlannedCluster {
  const { sets, pending, now, policy = defaultPolicy } = input
  const objects = withSets(input)
  const { snapshot, trial } = openGates(objects, sets, policy, now)
  const isComplete = trial.gangs.every(({ verdict }) => verdict === 'Scheduled')
  const decision = isComplete || !policy.fixes ? trial : plan(snapshot, policy, now)
  const rendered = new Set(sets.flatMap(({ podGangs }) => podGangs.map(({ metadata }) => keyOf(metadata))))
  const schedulers = schedulersOf(objects)
  const isPending = (gang: Gang) => schedulers.get(keyOf(gang)) === defaultSchedulerName && isWaiting(gang)
  const asked = new Set(
    snapshot.gangs.filter(gang => rendered.has(keyOf(gang)) || (pending && isPending(gang))).map(keyOf),
  )
  return {
    snapshot,
    gangs: [
      ...decision.gangs.filter(gang => asked.has(keyOf(gang))),
      ...(pending ? decision.missingGangs.map(missingGang) : []),
    ],
    steps: decision.steps,
  }
}

/**
 * Removes the gates of scaled gangs whose base gangs are scheduled. A verdict depends on earlier gangs only, and a base
 * gang comes before its scaled gangs, so the rounds end. The limit holds for verdicts that exhaust the budget.
 */
function openGates(
  objects: SnapshotObjects,
  sets: readonly RenderedSet[],
  policy: Policy,
  now: number,
): { snapshot: Snapshot; trial: Decision } {
  const gatedPods = new Map(
    sets.flatMap(({ pods }) =>
      pods.flatMap(pod => (baseGangOf(pod) === undefined ? [] : [[keyOf(pod.metadata), pod]])),
    ),
  )
  const bases = new Set([...gatedPods.values()].map(pod => `${pod.metadata.namespace}/${baseGangOf(pod)}`))
  let open: ReadonlySet<string> = new Set()
  for (let round = 0; ; round++) {
    const isGated = (pod: Pod) =>
      gatedPods.get(keyOf(pod.metadata)) === pod && !open.has(`${pod.metadata.namespace}/${baseGangOf(pod)}`)
    const snapshot = snapshotFrom({
      ...objects,
      pods: objects.pods.map(pod => (isGated(pod) ? gated(pod) : pod)),
    })
    const trial = plan(snapshot, { ...policy, fixes: false }, now)
    const next = new Set(
      trial.gangs.filter(gang => gang.verdict === 'Scheduled' && bases.has(keyOf(gang))).map(keyOf),
    )
    if (round > bases.size || (next.size === open.size && next.isSubsetOf(open))) return { snapshot, trial }
    open = next
  }
}

/**
 * The cluster with the sets applied. Pods that run already stay on their nodes: a rendered pod with the hostname of a
 * bound pod is that pod. Without `pending`, gangs and pods that wait are left out.
 */
function withSets({ objects, sets, pending, now }: PlanInput): SnapshotObjects {
  const renderedPods = new Map(sets.flatMap(({ pods }) => pods.map(pod => [keyOf(pod.metadata), pod])))
  const renderedGangs = new Map(
    sets.flatMap(({ podGangs }) => podGangs.map(gang => [keyOf(gang.metadata), gang])),
  )
  const kept: Pod[] = []
  for (const pod of objects.pods) {
    const hostname = `${pod.metadata.namespace ?? 'default'}/${pod.spec.hostname ?? ''}`
    const rendered = renderedPods.get(hostname)
    const isSame =
      rendered !== undefined &&
      pod.metadata.deletionTimestamp === undefined &&
      pod.metadata.labels?.[label.podGang] === rendered.metadata.labels?.[label.podGang]
    if (!isSame) {
      if (pod.spec.nodeName || pending) kept.push(pod)
    } else if (pod.spec.nodeName) {
      kept.push({ ...pod, spec: { ...pod.spec, schedulerName: defaultSchedulerName } })
      renderedPods.delete(hostname)
    }
  }
  const existing = new Map(objects.podGangs.map(gang => [keyOf(gang.metadata), gang]))
  // Sets that are not applied yet are younger than everything in the cluster, and all of the same age.
  const youngest = Math.max(
    now,
    ...objects.podGangs.map(({ metadata }) => (Date.parse(metadata.creationTimestamp ?? '') || 0) + 1),
  )
  const gangs = [...renderedGangs].map(([key, gang]) => ({
    ...gang,
    metadata: {
      ...gang.metadata,
      creationTimestamp: existing.get(key)?.metadata.creationTimestamp ?? new Date(youngest).toISOString(),
    },
  }))
  const others = pending ? objects.podGangs.filter(({ metadata }) => !renderedGangs.has(keyOf(metadata))) : []
  return {
    ...objects,
    pods: [...kept, ...renderedPods.values()],
    podGangs: [...others, ...gangs],
    resourceClaims: withRenderedClaims(objects, sets),
  }
}

/** A shared claim that exists in the cluster keeps its allocation. */
function withRenderedClaims(objects: SnapshotObjects, sets: readonly RenderedSet[]): ResourceClaim[] {
  const existing = objects.resourceClaims ?? []
  const names = new Set(existing.map(({ metadata }) => keyOf(metadata)))
  const rendered = sets.flatMap(({ resourceClaims }) => resourceClaims)
  return [...existing, ...rendered.filter(({ metadata }) => !names.has(keyOf(metadata)))]
}

function gated(pod: Pod): Pod {
  const gates = [...(pod.spec.schedulingGates ?? []), { name: podSchedulingGate }]
  return { ...pod, spec: { ...pod.spec, schedulingGates: gates } }
}
