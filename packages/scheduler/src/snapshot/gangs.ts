// SPDX-License-Identifier: Apache-2.0
import {
  annotation,
  type ClusterTopologyBinding,
  conditionType,
  label,
  type PodGang,
  type PodGangTopologyConstraint,
  type PriorityClass,
} from '@grove/api'
import { compareText, firstDifference } from '../order.ts'
import type { Gang, Group, PackConstraint, SnapshotPod } from '../types.ts'
import { compareByName, milliseconds } from './pods.ts'

/** The objects that a gang refers to, by name. */
export interface GangContext {
  readonly bindings: ReadonlyMap<string, ClusterTopologyBinding>
  readonly priorityClasses: readonly PriorityClass[]
}

/** Builds a gang from its PodGang and the live pods that name it (4.5.1). */
export function gangFrom(
  podGang: PodGang,
  pods: readonly SnapshotPod[],
  context: GangContext,
  formerNodes: readonly string[] = [],
): Gang {
  const { metadata, spec, status } = podGang
  const priority = priorityOf(spec.priorityClassName, context.priorityClasses)
  const condition = (type: string) => status?.conditions?.find(condition => condition.type === type)
  const scheduled = condition(conditionType.podGangScheduled)
  const baseGang = firstLabel(pods, label.basePodGang)
  const binding = context.bindings.get(metadata.annotations?.[annotation.topologyName] ?? '')
  return {
    namespace: metadata.namespace ?? 'default',
    name: metadata.name,
    uid: metadata.uid ?? '',
    podCliqueSet: ownerSet(podGang),
    replica: Number(firstLabel(pods, label.setReplicaIndex) ?? 0) || 0,
    role: baseGang === undefined ? 'base' : 'scaled',
    baseGang,
    createdAt: milliseconds(metadata.creationTimestamp),
    ...priority,
    priorityClassName: spec.priorityClassName || undefined,
    initialized: condition(conditionType.podGangInitialized)?.status === 'True',
    scheduled: scheduled?.status === 'True',
    waitingSince:
      scheduled && scheduled.status !== 'True' ? milliseconds(scheduled.lastTransitionTime) : undefined,
    levels: (binding?.spec.levels ?? []).map(({ domain, key }) => ({ domain, key })),
    constraint: constraintOf(spec.topologyConstraint),
    configs: configsOf(podGang),
    groups: spec.podgroups.map(group => groupFrom(group, pods)),
    isBalanced: metadata.annotations?.[annotation.split] === 'Balanced',
    formerNodes,
    reuseReservation: spec.reuseReservationRef,
  }
}

function groupFrom(group: PodGang['spec']['podgroups'][number], pods: readonly SnapshotPod[]): Group {
  const members = pods
    .filter(({ podClique }) => podClique === group.name)
    .sort((left, right) => firstDifference(left.index - right.index, compareByName(left, right)))
  return {
    name: group.name,
    minReplicas: group.minReplicas,
    constraint: constraintOf(group.topologyConstraint),
    placed: members.filter(({ node }) => node !== undefined),
    candidates: members.filter(({ node, gates }) => node === undefined && gates.length === 0),
    gated: members.filter(({ node, gates }) => node === undefined && gates.length > 0),
  }
}

function configsOf({ spec }: PodGang): Gang['configs'] {
  const taken = new Set<string>()
  return (spec.topologyConstraintGroupConfigs ?? []).map(({ name, podGroupNames, topologyConstraint }) => {
    const groups = podGroupNames.filter(group => !taken.has(group))
    for (const group of groups) taken.add(group)
    return { name, groups, constraint: constraintOf(topologyConstraint) }
  })
}

function constraintOf(constraint: PodGangTopologyConstraint | undefined): PackConstraint {
  const { required, preferred } = constraint?.packConstraint ?? {}
  return { ...(required ? { required } : {}), ...(preferred ? { preferred } : {}) }
}

function priorityOf(
  name: string | undefined,
  classes: readonly PriorityClass[],
): Pick<Gang, 'priority' | 'priorityClassExists' | 'preemptionPolicy'> {
  const found = name
    ? classes.find(({ metadata }) => metadata.name === name)
    : classes
        .filter(({ globalDefault }) => globalDefault)
        .sort((left, right) =>
          firstDifference(
            (left.value ?? 0) - (right.value ?? 0),
            compareText(left.metadata.name, right.metadata.name),
          ),
        )[0]
  return {
    priority: found?.value ?? 0,
    priorityClassExists: !name || found !== undefined,
    preemptionPolicy: found?.preemptionPolicy ?? 'PreemptLowerPriority',
  }
}

function firstLabel(pods: readonly SnapshotPod[], key: string): string | undefined {
  return pods
    .map(({ labels }) => labels[key])
    .filter(value => value !== undefined)
    .sort(compareText)[0]
}

function ownerSet({ metadata }: PodGang): string {
  const owner = metadata.ownerReferences?.find(
    ({ kind, controller }) => kind === 'PodCliqueSet' && controller,
  )
  return owner?.name ?? metadata.labels?.[label.partOf] ?? ''
}

const membersOf = ({ placed, candidates, gated }: Group) => [...placed, ...candidates, ...gated]

/** Place of a scaled gang in the order in which the operator creates the gangs of a replica. */
interface ScalingOrder {
  /** Position of the first clique of the scaling group in the base gang, which lists groups in the order of the template. */
  readonly position: number
  /** Name of the scaling group. */
  readonly name: string
  readonly index: number
}

function scalingOrder(gang: Gang, base: Gang | undefined): ScalingOrder {
  const pods = gang.groups.flatMap(membersOf)
  const name = firstLabel(pods, label.scalingGroup) ?? ''
  const found =
    base?.groups.findIndex(group => firstLabel(membersOf(group), label.scalingGroup) === name) ?? -1
  return {
    // A base gang without pods does not show the order yet.
    position: found < 0 ? Number.MAX_SAFE_INTEGER : found,
    name,
    index: Number(firstLabel(pods, label.scalingGroupReplicaIndex) ?? 0) || 0,
  }
}

/**
 * Planning order: priority, age, base gangs first, then the order in which the operator creates gangs. A scaled gang is never
 * older than its base gang: it cannot be scheduled before it, and the operator creates both at the same time.
 */
export function inPlanningOrder(gangs: readonly Gang[]): Gang[] {
  const byName = new Map(gangs.map(gang => [`${gang.namespace}/${gang.name}`, gang]))
  return gangs
    .map((gang): Position => {
      const base = byName.get(`${gang.namespace}/${gang.baseGang}`)
      return {
        gang,
        scaling: scalingOrder(gang, base),
        age: Math.max(gang.createdAt, base?.createdAt ?? gang.createdAt),
      }
    })
    .sort(compareGangs)
    .map(({ gang }) => gang)
}

interface Position {
  readonly gang: Gang
  readonly scaling: ScalingOrder
  /** Time of creation. */
  readonly age: number
}

function compareGangs(
  { gang: left, scaling: leftScaling, age: leftAge }: Position,
  { gang: right, scaling: rightScaling, age: rightAge }: Position,
): number {
  return firstDifference(
    right.priority - left.priority,
    leftAge - rightAge,
    (left.role === 'scaled' ? 1 : 0) - (right.role === 'scaled' ? 1 : 0),
    compareText(left.namespace, right.namespace),
    compareText(left.podCliqueSet, right.podCliqueSet),
    left.replica - right.replica,
    leftScaling.position - rightScaling.position,
    compareText(leftScaling.name, rightScaling.name),
    leftScaling.index - rightScaling.index,
    compareText(left.name, right.name),
  )
}
