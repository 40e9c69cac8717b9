// SPDX-License-Identifier: Apache-2.0
import { freeAmount, totalRequests } from '../explain/evidence.ts'
import { Model } from '../model/model.ts'
import { compareText } from '../order.ts'
import type { Amounts, DomainName, Gang, Policy, Snapshot, SnapshotNode } from '../types.ts'
import { countCopies } from './copies.ts'

export interface LevelSlots {
  readonly level: string
  readonly key: string
  readonly domains: readonly {
    readonly domain: DomainName
    readonly copies: number
    readonly free: Amounts
  }[]
}

/** Counts how often the gang fits into each domain of each level. Each domain is evaluated alone. */
export function slotsOf(snapshot: Snapshot, gang: Gang, policy: Policy, most: number): LevelSlots[] {
  const model = new Model({ ...snapshot, gangs: [gang] })
  const restricted = restrictions(snapshot, gang)
  const requests = totalRequests(gang.groups.flatMap(({ candidates }) => candidates))
  const resources = Object.keys(requests)
    .filter(name => name !== 'pods')
    .sort(compareText)
  return gang.levels.map(({ domain: level, key }, position) => {
    const { domains, domainOf } = model.partitions.ofLevel(gang.levels, position)
    const members: number[][] = domains.map(() => [])
    domainOf.forEach((domain, node) => {
      if (domain >= 0) members[domain]!.push(node)
    })
    const found = domains.map((values, domain) => ({
      domain: Object.fromEntries(
        values.map((value, at) => [gang.levels[at]!.domain, value] as const),
      ) as DomainName,
      copies: countCopies(restricted(members[domain]!), [gang], policy, most).copies,
      free: Object.fromEntries(resources.map(name => [name, freeAmount(model, members[domain]!, name)])),
      name: JSON.stringify(values),
    }))
    found.sort((left, right) => compareText(left.name, right.name))
    return { level, key, domains: found.map(({ name: _, ...domain }) => domain) }
  })
}

/** Returns the snapshot with room on the given nodes only. */
function restrictions(snapshot: Snapshot, gang: Gang): (members: readonly number[]) => Snapshot {
  const pods = [...snapshot.boundPods, ...gang.groups.flatMap(({ candidates }) => candidates)]
  const hasAffinity = pods.some(({ needs }) => needs.podAffinity.length + needs.podAntiAffinity.length > 0)
  const podsOf = Map.groupBy(snapshot.boundPods, ({ node }) => node ?? '')
  return members => {
    const nodes = members.map(node => snapshot.nodes[node]!)
    if (!hasAffinity)
      return { ...snapshot, nodes, boundPods: nodes.flatMap(({ name }) => podsOf.get(name) ?? []) }
    // Rules of pods can apply beyond the domain, so the other nodes stay in the snapshot, without room.
    const names = new Set(nodes.map(({ name }) => name))
    return {
      ...snapshot,
      nodes: snapshot.nodes.map(node => (names.has(node.name) ? node : withoutRoom(node))),
    }
  }
}

function withoutRoom(node: SnapshotNode): SnapshotNode {
  return { ...node, allocatable: {} }
}
