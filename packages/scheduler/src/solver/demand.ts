// SPDX-License-Identifier: Apache-2.0
import type { Partition } from '../model/partitions.ts'
import type { Shape } from '../model/shapes.ts'

/** Pods of one group that are to be placed; the solver returns a node for each. */
export interface Bucket {
  readonly id: number
  readonly shape: Shape
  readonly count: number
  /** Nodes that pinned scopes allow; undefined if all. */
  readonly mask: NodeMask | undefined
  /** Domain counters that the pods count for. */
  readonly counters: readonly DomainCounter[]
}

/** A set of nodes with an identity, so that equal masks share one entity type. */
export interface NodeMask {
  readonly id: string
  readonly nodes: Uint8Array
}

/** Counts the domains that a scope uses, for the preferred level. */
export interface DomainCounter {
  readonly id: number
  readonly partition: Partition
  readonly limit: number
  /** Running pods by domain, and by node outside every domain: using these places again is free. */
  readonly usedDomains: ReadonlyMap<number, number>
  readonly usedNodes: ReadonlyMap<number, number>
  /** True if pods are divided evenly between the domains, as far as their room allows. */
  readonly balanced: boolean
}

/** A set of pods, all of which must be in one domain of the partition, if there is one. */
export interface DemandScope {
  readonly partition: Partition | undefined
  readonly buckets: readonly Bucket[]
  readonly children: readonly DemandScope[]
}

/** An entity that the solver counts: a pod, or a scope that one domain must hold whole. */
export type EntityType =
  | {
      readonly kind: 'pod'
      readonly id: number
      readonly shape: Shape
      readonly mask: NodeMask | undefined
      readonly counters: readonly number[]
    }
  | {
      readonly kind: 'scope'
      readonly id: number
      readonly partition: Partition
      readonly content: readonly EntityCount[]
      /** All pods inside, by pod type. */
      readonly pods: readonly EntityCount[]
      readonly counters: readonly number[]
    }

export interface EntityCount {
  readonly type: number
  readonly count: number
}

/** One scope of the demand with the buckets and scopes behind each entity of its content. */
export interface ScopeInstance {
  readonly members: ReadonlyMap<number, readonly (number | ScopeInstance)[]>
}

export interface Demand {
  readonly types: readonly EntityType[]
  readonly counters: readonly DomainCounter[]
  readonly root: ScopeInstance
  readonly rootCounts: readonly EntityCount[]
}

/**
 * Turns a tree of scopes into entity types with counts. Identical scopes become one type, so that the solver tries no
 * permutations of them. A scope without a partition is part of the scope around it.
 */
export function demandOf(scope: DemandScope): Demand {
  const types: EntityType[] = []
  const byKey = new Map<string, number>()
  const counters = new Map<number, DomainCounter>()

  const intern = (key: string, make: (id: number) => EntityType): number => {
    const known = byKey.get(key)
    if (known !== undefined) return known
    types.push(make(types.length))
    byKey.set(key, types.length - 1)
    return types.length - 1
  }

  const collect = (part: DemandScope, members: Map<number, (number | ScopeInstance)[]>): void => {
    for (const { id, shape, count, mask, counters: own } of part.buckets) {
      if (count === 0) continue
      for (const counter of own) counters.set(counter.id, counter)
      const ids = own.map(counter => counter.id).sort((left, right) => left - right)
      const type = intern(`pod ${shape.id} ${mask?.id ?? ''} ${ids}`, type => ({
        kind: 'pod',
        id: type,
        shape,
        mask,
        counters: ids,
      }))
      const list = members.get(type) ?? []
      for (let i = 0; i < count; i++) list.push(id)
      members.set(type, list)
    }
    for (const child of part.children) {
      if (!child.partition) {
        collect(child, members)
        continue
      }
      const { partition } = child
      const inside = new Map<number, (number | ScopeInstance)[]>()
      collect(child, inside)
      if (inside.size === 0) continue
      const content = countsOf(inside)
      const type = intern(
        `scope ${partition.id} ${content.map(({ type, count }) => `${type}x${count}`)}`,
        id => ({
          kind: 'scope',
          id,
          partition,
          content,
          pods: podsOf(content, types),
          counters: [...new Set(content.flatMap(({ type }) => types[type]!.counters))],
        }),
      )
      const list = members.get(type) ?? []
      list.push({ members: inside })
      members.set(type, list)
    }
  }

  const members = new Map<number, (number | ScopeInstance)[]>()
  collect(scope, members)
  return {
    types,
    counters: [...counters.values()].sort((left, right) => left.id - right.id),
    root: { members },
    rootCounts: countsOf(members),
  }
}

function countsOf(members: ReadonlyMap<number, readonly unknown[]>): EntityCount[] {
  return [...members].map(([type, list]) => ({ type, count: list.length })).sort((a, b) => a.type - b.type)
}

function podsOf(content: readonly EntityCount[], types: readonly EntityType[]): EntityCount[] {
  const totals = new Map<number, number>()
  for (const { type, count } of content) {
    const entity = types[type]!
    const inside = entity.kind === 'pod' ? [{ type, count: 1 }] : entity.pods
    for (const inner of inside) totals.set(inner.type, (totals.get(inner.type) ?? 0) + inner.count * count)
  }
  return [...totals].map(([type, count]) => ({ type, count })).sort((a, b) => a.type - b.type)
}
