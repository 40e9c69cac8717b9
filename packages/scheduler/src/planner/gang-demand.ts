// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Shape } from '../model/shapes.ts'
import type { Bucket, DemandScope, DomainCounter, NodeMask } from '../solver/index.ts'
import { intersect } from '../solver/index.ts'
import type { Gang, SnapshotPod } from '../types.ts'
import { allScopes, type Scope, scopesOf } from './scopes.ts'

/** A gang whose minimum has to be placed, with the pods that form it. */
export interface GangTask {
  readonly gang: Gang
  readonly index: number
  readonly scope: Scope
  /** For each group the pods of the missing minimum, in rank order. */
  readonly minimum: readonly (readonly SnapshotPod[])[]
  /** Nodes of bound pods of each group, as indexes. Nodes that do not exist are omitted. */
  readonly running: readonly (readonly number[])[]
  /** A domain that all gangs of the PodCliqueSet replica must share. */
  readonly replica?: {
    readonly id: string
    readonly partition: Partition
    readonly running: readonly number[]
  }
  /** All groups have pods of one shape, so it does not matter which pods form the minimum. */
  readonly isUniform: boolean
}

export function need({ minReplicas, placed }: Gang['groups'][number]): number {
  return Math.max(0, minReplicas - placed.length)
}

export function taskOf(model: Model, gang: Gang, index: number, withGated = false): GangTask {
  const pool = gang.groups.map(group =>
    withGated ? [...group.candidates, ...group.gated] : group.candidates,
  )
  const indexesOf = (nodes: readonly string[]) =>
    nodes.flatMap(name => {
      const found = model.nodeIndex.get(name)
      return found === undefined ? [] : [found]
    })
  return {
    gang,
    index,
    scope: scopesOf(model, gang),
    minimum: gang.groups.map((group, i) => pool[i]!.slice(0, need(group))),
    running: gang.groups.map(({ placed }) => indexesOf(placed.map(({ node }) => node ?? ''))),
    ...(gang.replicaScope && {
      replica: {
        id: gang.replicaScope.id,
        partition: model.partitions.ofKey(gang.replicaScope.levels, gang.replicaScope.key),
        running: indexesOf(gang.replicaScope.nodes),
      },
    }),
    isUniform: gang.groups.every(
      (group, i) =>
        pool[i]!.length <= need(group) || new Set(pool[i]!.map(pod => model.shapes.of(pod))).size === 1,
    ),
  }
}

/** Reports whether pods of other gangs may help: pod affinity may select them. */
export function needsOthers(model: Model, { minimum }: GangTask): boolean {
  return minimum.some(pods => pods.some(pod => model.isCoupled(model.shapes.of(pod))))
}

/** At most this many choices of the minimum are tried. */
const mostChoices = 64

/**
 * All ways to choose the pods of the minimum by shape, the lowest indexes first. During an update a group may have pods
 * of two templates, and only one of them may fit.
 */
export function minimumChoices(
  model: Model,
  task: GangTask,
): { readonly tasks: GangTask[]; readonly complete: boolean } {
  let choices: (readonly SnapshotPod[])[][] = [[]]
  let complete = true
  for (const group of task.gang.groups) {
    const own = choicesOf(model, group.candidates, need(group))
    const next: (readonly SnapshotPod[])[][] = []
    for (const chosen of choices)
      for (const pods of own)
        if (next.length < mostChoices) next.push([...chosen, pods])
        else complete = false
    choices = next
  }
  return { tasks: choices.map(minimum => ({ ...task, minimum, isUniform: true })), complete }
}

function choicesOf(model: Model, pods: readonly SnapshotPod[], count: number): (readonly SnapshotPod[])[] {
  const byShape = Map.groupBy(pods, pod => model.shapes.of(pod))
  let found: { readonly chosen: readonly SnapshotPod[] }[] = [{ chosen: [] }]
  for (const members of byShape.values())
    found = found.flatMap(({ chosen }) =>
      Array.from({ length: Math.min(members.length, count - chosen.length) + 1 }, (_, taken) => ({
        chosen: [...chosen, ...members.slice(0, taken)],
      })),
    )
  const inOrder = (chosen: readonly SnapshotPod[]) => pods.filter(pod => chosen.includes(pod))
  const rank = (chosen: readonly SnapshotPod[]) => chosen.reduce((sum, pod) => sum + pods.indexOf(pod), 0)
  return found
    .filter(({ chosen }) => chosen.length === Math.min(count, pods.length))
    .map(({ chosen }) => inOrder(chosen))
    .sort((left, right) => rank(left) - rank(right))
}

/** The number of levels that each scope with a preferred level widens; scopes in the order of `allScopes`. */
export type Widening = ReadonlyMap<Scope, number>

export interface GangDemand {
  readonly scope: DemandScope
  readonly buckets: ReadonlyMap<
    number,
    { readonly task: GangTask; readonly group: number; readonly pods: SnapshotPod[] }
  >
  readonly counters: readonly {
    readonly scope: Scope
    readonly counter: DomainCounter
    readonly base: number
  }[]
}

/**
 * The demand of a gang's missing minimum. Without a widening only required levels count. Undefined if running pods
 * contradict the widening.
 */
export function gangDemand(
  model: Model,
  task: GangTask,
  widening?: Widening,
  ids: { next: number } = { next: 0 },
): GangDemand | undefined {
  const { minimum } = task
  const buckets = new Map<number, { task: GangTask; group: number; pods: SnapshotPod[] }>()
  const counters: { scope: Scope; counter: DomainCounter; base: number }[] = []
  let contradicted = false

  const runningIn = ({ groups }: Scope) => groups.flatMap(group => task.running[group]!)

  const build = (
    scope: Scope,
    mask: NodeMask | undefined,
    counting: readonly DomainCounter[],
  ): DemandScope => {
    const running = runningIn(scope)
    let inner = mask
    const around: Partition[] = []
    const apply = (partition: Partition, mustBeOne: boolean): void => {
      const domains = new Set(running.map(node => partition.domainOf[node]!))
      if (mustBeOne && (domains.size > 1 || domains.has(-1))) contradicted = true
      domains.delete(-1)
      if (domains.size === 0) around.push(partition)
      else inner = intersect(inner, maskOf(partition, domains))
    }
    if (scope.required) apply(scope.required.partition, false)
    const widened = widening?.get(scope)
    let counted = counting
    if (scope.preferred && widened !== undefined) {
      const { partitions } = scope.preferred
      if (widened < partitions.length) apply(partitions[widened]!, true)
      if (widened > 0) {
        const counter = counterOf(scope, partitions[0]!, running)
        counted = [...counting, counter]
      }
    }
    let result: DemandScope = {
      partition: undefined,
      buckets: scope.kind === 'podGroup' ? bucketsOf(scope.groups[0]!, inner, counted) : [],
      children: scope.children.map(child => build(child, inner, counted)),
    }
    for (const partition of around.reverse()) result = { partition, buckets: [], children: [result] }
    return result
  }

  const counterOf = (scope: Scope, partition: Partition, running: readonly number[]): DomainCounter => {
    const usedDomains = new Map<number, number>()
    const usedNodes = new Map<number, number>()
    for (const node of running) {
      const domain = partition.domainOf[node]!
      if (domain >= 0) usedDomains.set(domain, (usedDomains.get(domain) ?? 0) + 1)
      else usedNodes.set(node, (usedNodes.get(node) ?? 0) + 1)
    }
    const pods = scope.groups.reduce((sum, group) => sum + minimum[group]!.length, 0)
    const balanced = task.gang.isBalanced
    const counter = { id: counters.length, partition, limit: pods, usedDomains, usedNodes, balanced }
    counters.push({ scope, counter, base: usedDomains.size + usedNodes.size })
    return counter
  }

  const bucketsOf = (
    group: number,
    mask: NodeMask | undefined,
    counted: readonly DomainCounter[],
  ): Bucket[] => {
    const byShape = new Map<Shape, SnapshotPod[]>()
    for (const pod of minimum[group]!) {
      const shape = model.shapes.of(pod)
      const pods = byShape.get(shape)
      if (pods) pods.push(pod)
      else byShape.set(shape, [pod])
    }
    return [...byShape].map(([shape, pods]) => {
      const id = ids.next++
      buckets.set(id, { task, group, pods })
      return { id, shape, count: pods.length, mask, counters: counted }
    })
  }

  const scope = build(task.scope, undefined, [])
  return contradicted ? undefined : { scope, buckets, counters }
}

function maskOf(partition: Partition, domains: ReadonlySet<number>): NodeMask {
  const sorted = [...domains].sort((left, right) => left - right)
  return {
    id: `${partition.id}:${sorted.join('+')}`,
    nodes: Uint8Array.from(partition.domainOf, domain => (domains.has(domain) ? 1 : 0)),
  }
}

/** Scopes that take part in the placementScore, with the number of their levels. */
export function preferringScopes(task: GangTask): Scope[] {
  return allScopes(task.scope).filter(
    ({ preferred, groups }) => preferred && groups.some(group => task.minimum[group]!.length > 0),
  )
}
