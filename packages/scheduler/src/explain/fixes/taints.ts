// SPDX-License-Identifier: Apache-2.0
import type { Taint, Toleration } from '@grove/api'
import { keepsAway, tolerates } from '../../filters/taints.ts'
import { canonicalText, compareText } from '../../order.ts'
import { need } from '../../planner/gang-demand.ts'
import type { Fix } from '../../types.ts'
import { type Search, smallestSet } from './search.ts'

/**
 * Distinct taints that some missing pod does not tolerate. Excludes taints of nodes that are not ready, because users
 * cannot remove those.
 */
function foreignTaints({ snapshot, gang }: Search): Taint[] {
  const pods = gang.groups.flatMap(group => (need(group) > 0 ? group.candidates : []))
  const taints = new Map<string, Taint>()
  for (const { taints: own } of snapshot.nodes)
    for (const taint of own)
      if (keepsAway(taint) && pods.some(({ needs }) => !tolerates(needs.tolerations, taint)))
        taints.set(canonicalText(taint), taint)
  return [...taints]
    .sort(([left], [right]) => compareText(left, right))
    .map(([, taint]) => taint)
    .filter(({ key }) => !key.startsWith('node.kubernetes.io/'))
}

function cheapest(fixes: readonly (Fix | undefined)[]): Fix | undefined {
  return fixes.reduce((best, fix) => (fix && (!best || fix.cost < best.cost) ? fix : best), undefined)
}

export function removeTaint(search: Search): Fix | undefined {
  return cheapest(
    foreignTaints(search).map(taint => {
      const text = canonicalText(taint)
      const nodes = search.nearest
        .map(node => search.snapshot.nodes[node]!)
        .filter(({ taints }) => taints.some(other => canonicalText(other) === text))
        .map(({ name }) => name)
      return smallestSet(
        nodes,
        chosen => ({ op: 'RemoveTaint', nodes: chosen, taint, cost: chosen.length }),
        search,
      )
    }),
  )
}

export function addToleration(search: Search): Fix | undefined {
  return cheapest(
    foreignTaints(search).map(({ key, value, effect }) => {
      const toleration: Toleration = value
        ? { key, operator: 'Equal', value, effect }
        : { key, operator: 'Exists', effect }
      const groups = search.gang.groups.filter(group => need(group) > 0).map(({ name }) => name)
      return smallestSet(
        groups,
        podGroups => ({ op: 'AddToleration', podGroups, toleration, cost: podGroups.length }),
        search,
      )
    }),
  )
}
