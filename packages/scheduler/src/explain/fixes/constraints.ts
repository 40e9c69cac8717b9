// SPDX-License-Identifier: Apache-2.0
import { need } from '../../planner/gang-demand.ts'
import type { Fix } from '../../types.ts'
import { type Search, smallestWorking } from './search.ts'

/** Tries broader levels first, then none. */
export function relaxTopology({ gang, works }: Search): Fix | undefined {
  const scopes = [
    { name: gang.name, constraint: gang.constraint },
    ...gang.configs,
    ...gang.groups.filter(group => group.placed.length + group.candidates.length > 0),
  ]
  for (const { name, constraint } of scopes) {
    const from = constraint.required
    if (!from) continue
    const position = gang.levels.findIndex(({ key }) => key === from)
    const broader = gang.levels
      .slice(0, Math.max(0, position))
      .map(({ key }) => key)
      .reverse()
    for (const to of [...broader, null]) {
      const fix: Fix = { op: 'RelaxTopology', scope: name, from, to, cost: 1 }
      if (works(fix)) return fix
    }
  }
  return undefined
}

/** The largest minimum that fits. It stays at least 1, as admission requires. */
export function lowerMinAvailable({ gang, works, isMonotone }: Search): Fix | undefined {
  for (const group of gang.groups) {
    if (need(group) === 0) continue
    const lower = (to: number): Fix => ({ op: 'LowerMinAvailable', podGroup: group.name, to, cost: 1 })
    const { minReplicas } = group
    if (minReplicas < 2) continue
    const by = smallestWorking(1, minReplicas - 1, isMonotone, less => works(lower(minReplicas - less)))
    if (by !== undefined) return lower(minReplicas - by)
  }
  return undefined
}
