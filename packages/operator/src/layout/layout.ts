// SPDX-License-Identifier: Apache-2.0

// The cliques, scaling groups and gangs that a PodCliqueSet consists of, with their names. All objects that the
// operator creates are derived from this layout.
import { type CliqueTemplate, names, type PodClique, type ScalingGroupTemplate } from '@grove/api'
import type { StoredSet } from './stored.ts'

export interface ScalingGroupInstance {
  readonly config: ScalingGroupTemplate
  readonly name: string
  readonly setReplica: number
}

export interface CliqueInstance {
  readonly template: CliqueTemplate
  readonly name: string
  readonly setReplica: number
  /** The gang with which its pods are scheduled. */
  readonly podGang: string
  /** The base gang, which is scheduled first. Set only for cliques of a scaled gang. */
  readonly basePodGang: string | undefined
  readonly group: { readonly instance: ScalingGroupInstance; readonly replica: number } | undefined
}

export interface PodGangInstance {
  readonly name: string
  readonly setReplica: number
  /**
   * The order is part of the API: standalone cliques as in the template, then groups, their replicas, their cliques.
   */
  readonly cliques: readonly CliqueInstance[]
  /** The group replica that a scaled gang holds; none for a base gang. */
  readonly scaled: { readonly instance: ScalingGroupInstance; readonly replica: number } | undefined
}

/** A scaling group names a template that the set does not contain: the object was stored without validation. */
class UnknownCliqueError extends Error {
  constructor(clique: string, group: string) {
    super(`scaling group ${group} names the clique ${clique}, which the PodCliqueSet does not define`)
  }
}

/** For a group in the template of a set, or for the spec of a stored one. */
export function minAvailableOfGroup({
  minAvailable = 1,
}: Pick<ScalingGroupTemplate, 'minAvailable'>): number {
  return minAvailable
}

/** For a clique in the template of a set, or for a stored one. */
export function minAvailableOfClique({ spec }: Pick<CliqueTemplate | PodClique, 'spec'>): number {
  return spec.minAvailable ?? spec.replicas
}

export function standaloneTemplates(set: StoredSet): CliqueTemplate[] {
  const members = new Set(scalingGroupConfigs(set).flatMap(config => config.cliqueNames))
  return set.spec.template.cliques.filter(template => !members.has(template.name))
}

export function scalingGroupConfigs(set: StoredSet): readonly ScalingGroupTemplate[] {
  return set.spec.template.podCliqueScalingGroups ?? []
}

/** The group that a clique belongs to, if any. */
export function groupOf(set: StoredSet, clique: string): ScalingGroupTemplate | undefined {
  return scalingGroupConfigs(set).find(config => config.cliqueNames.includes(clique))
}

export function standaloneClique(
  set: StoredSet,
  setReplica: number,
  template: CliqueTemplate,
): CliqueInstance {
  return {
    template,
    name: names.standaloneClique(set.metadata.name, setReplica, template.name),
    setReplica,
    podGang: names.basePodGang(set.metadata.name, setReplica),
    basePodGang: undefined,
    group: undefined,
  }
}

export function standaloneCliques(set: StoredSet, setReplica: number): CliqueInstance[] {
  return standaloneTemplates(set).map(template => standaloneClique(set, setReplica, template))
}

export function scalingGroup(
  set: StoredSet,
  setReplica: number,
  config: ScalingGroupTemplate,
): ScalingGroupInstance {
  return { config, name: names.scalingGroup(set.metadata.name, setReplica, config.name), setReplica }
}

export function scalingGroups(set: StoredSet, setReplica: number): ScalingGroupInstance[] {
  return scalingGroupConfigs(set).map(config => scalingGroup(set, setReplica, config))
}

/** The cliques of one replica of a scaling group, in the order in which the group names them. */
export function memberCliques(
  set: StoredSet,
  instance: ScalingGroupInstance,
  replica: number,
): CliqueInstance[] {
  const { config, name, setReplica } = instance
  const base = names.basePodGang(set.metadata.name, setReplica)
  const isScaled = replica >= minAvailableOfGroup(config)
  return config.cliqueNames.map(clique => ({
    template: templateNamed(set, clique, config.name),
    name: names.memberClique(name, replica, clique),
    setReplica,
    podGang: isScaled ? names.scaledPodGang(name, replica, minAvailableOfGroup(config)) : base,
    basePodGang: isScaled ? base : undefined,
    group: { instance, replica },
  }))
}

/**
 * Finds the member of a group by its name. Reads the replica index from the name and compares only that member,
 * because a group may want far more members than exist.
 */
export function memberNamed(
  set: StoredSet,
  instance: ScalingGroupInstance,
  name: string,
): CliqueInstance | undefined {
  const [, replica] =
    /^(\d{1,9})-/.exec(name.slice(names.scalingGroupReplica(instance.name, 0).length - 1)) ?? []
  if (replica === undefined) return undefined
  return memberCliques(set, instance, Number(replica)).find(member => member.name === name)
}

/**
 * Replicas beyond the wanted number. They have the newest template and exist while an update runs, so that others can
 * be deleted. The update decides their number, at most what the strategy allows now. If the set was scaled out since,
 * the first of them have become wanted replicas.
 */
export function surgeReplicas({ spec, status }: StoredSet): number {
  const { replicas = 0, updateStrategy: { type, maxSurge = 0 } = {} } = spec
  const { updateEndedAt, surgeReplicas: begun = 0 } = status?.updateProgress ?? {}
  if (updateEndedAt !== undefined || type === 'OnDelete' || replicas === 0) return 0
  const grown = Math.max(0, replicas - (status?.replicas ?? replicas))
  // More surge replicas than replicas are useless, even if the status counts them.
  return Math.max(0, Math.min(begun - grown, maxSurge, replicas))
}

/** Iterates over the replicas that a set consists of now, surge replicas included. */
export function eachReplica(set: StoredSet): Iterable<number> {
  return eachIndex(0, replicaCount(set))
}

export function replicaCount(set: StoredSet): number {
  return (set.spec.replicas ?? 0) + surgeReplicas(set)
}

/** The replica count of a scaling group: that of the live object, or that of the template before it exists. */
export type GroupReplicas = (instance: ScalingGroupInstance) => number

export const groupReplicasFromTemplate: GroupReplicas = instance => instance.config.replicas ?? 1

/** A gang without its cliques, because there may be many. */
export type PodGangReference = Omit<PodGangInstance, 'cliques'>

/** Iterates over all gangs of a set: first every base gang, then the scaled gangs by replica and group. */
export function* eachPodGang(set: StoredSet, groupReplicas: GroupReplicas): Generator<PodGangReference> {
  for (const setReplica of eachReplica(set))
    yield { name: names.basePodGang(set.metadata.name, setReplica), setReplica, scaled: undefined }
  for (const setReplica of eachReplica(set)) yield* eachScaledPodGang(set, setReplica, groupReplicas)
}

/** Iterates over the scaled gangs of one replica, by group. */
export function* eachScaledPodGang(
  set: StoredSet,
  setReplica: number,
  groupReplicas: GroupReplicas,
): Generator<PodGangReference> {
  for (const instance of scalingGroups(set, setReplica)) {
    const minimum = minAvailableOfGroup(instance.config)
    for (const replica of eachIndex(minimum, groupReplicas(instance)))
      yield {
        name: names.scaledPodGang(instance.name, replica, minimum),
        setReplica,
        scaled: { instance, replica },
      }
  }
}

/** All gangs as a list, with their cliques. Only for sets whose counts are known to be within their limits. */
export function podGangs(set: StoredSet, groupReplicas: GroupReplicas): PodGangInstance[] {
  return Array.from(eachPodGang(set, groupReplicas), gang =>
    gang.scaled
      ? { ...gang, cliques: memberCliques(set, gang.scaled.instance, gang.scaled.replica) }
      : basePodGang(set, gang.setReplica),
  )
}

export function basePodGang(set: StoredSet, setReplica: number): PodGangInstance {
  const members = scalingGroups(set, setReplica).flatMap(instance =>
    range(0, minAvailableOfGroup(instance.config)).flatMap(replica => memberCliques(set, instance, replica)),
  )
  return {
    name: names.basePodGang(set.metadata.name, setReplica),
    setReplica,
    cliques: [...standaloneCliques(set, setReplica), ...members],
    scaled: undefined,
  }
}

/** Throws when a scaling group names a clique that the set does not define. */
export function checkMembers(set: StoredSet): void {
  const known = new Set(set.spec.template.cliques.map(({ name }) => name))
  for (const { name, cliqueNames } of scalingGroupConfigs(set))
    for (const clique of cliqueNames) if (!known.has(clique)) throw new UnknownCliqueError(clique, name)
}

export function templateNamed(set: StoredSet, clique: string, group: string): CliqueTemplate {
  const found = set.spec.template.cliques.find(template => template.name === clique)
  if (!found) throw new UnknownCliqueError(clique, group)
  return found
}

/** Iterates over numbers. Replica counts come from users, so that a list of them may not fit into memory. */
export function eachIndex(from: number, to: number): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let index = from; index < to; index++) yield index
    },
  }
}

/** Returns a list of numbers. Only for counts that are known to be within their limit. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
