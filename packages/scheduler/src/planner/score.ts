// SPDX-License-Identifier: Apache-2.0
import { allScopes, type Preference, type Scope } from './scopes.ts'

/** The score of a scope against its preferred level. */
export interface ScopeScore {
  /** The number of levels that the scope had to widen. */
  readonly widened: number
  readonly domains: number
  readonly score: number
}

/** q = (L − w + 1/d) / (L + 1): first the narrowest common domain, then the fewest preferred domains. */
export function quality(levels: number, widened: number, domains: number): number {
  return (levels - widened + 1 / domains) / (levels + 1)
}

export function scoreOf({ partitions }: Preference, nodes: readonly number[]): ScopeScore {
  const widened = partitions.findIndex(({ domainOf }) => {
    const domain = domainOf[nodes[0]!]!
    return domain >= 0 && nodes.every(node => domainOf[node] === domain)
  })
  const preferred = partitions[0]!
  const used = new Set(
    nodes.map(node => {
      const domain = preferred.domainOf[node]!
      return domain >= 0 ? domain : -1 - node
    }),
  )
  const levels = partitions.length
  const w = widened < 0 ? levels : widened
  return { widened: w, domains: used.size, score: quality(levels, w, used.size) }
}

/** The placementScore of a gang; `nodesOf` returns the nodes of running and minimum pods of a group. */
export function placementScore(scope: Scope, nodesOf: (group: number) => readonly number[]): number {
  let weighted = 0
  let pods = 0
  for (const { preferred, groups } of allScopes(scope)) {
    if (!preferred) continue
    const nodes = groups.flatMap(nodesOf)
    if (nodes.length === 0) continue
    weighted += nodes.length * scoreOf(preferred, nodes).score
    pods += nodes.length
  }
  return pods === 0 ? 1 : weighted / pods
}
