// SPDX-License-Identifier: Apache-2.0
import { podSchedulingGate } from '@grove/api'
import type { Gang } from '../types.ts'
import { type GangTask, need } from './gang-demand.ts'

/** The reason why a gang is not planned at all. No change of nodes can resolve it. */
export type Obstacle =
  | { readonly code: 'UnsupportedConstraint'; readonly field: string; readonly podGroup: string }
  | { readonly code: 'PriorityClassNotFound'; readonly name: string }
  | {
      readonly code: 'ClaimNotFound'
      readonly kind: string
      readonly name: string
      /** A controller of Kubernetes is about to create the object. */
      readonly isAwaited?: true
      readonly podGroup: string
    }
  | {
      readonly code: 'PodsNotCreated'
      readonly podGroup: string
      readonly have: number
      readonly need: number
    }
  | { readonly code: 'PodsGated'; readonly podGroup: string; readonly pods: number; readonly gate: string }
  | { readonly code: 'BaseGangNotScheduled'; readonly base: string }
  /** Another gang preempts it in this cycle. */
  | { readonly code: 'HeldForEarlierGang'; readonly preemptor: GangTask }

export function obstacleOf(gang: Gang, isBaseSatisfied: (gang: Gang) => boolean): Obstacle | undefined {
  for (const group of gang.groups) {
    if (need(group) === 0) continue
    for (const pod of [...group.candidates, ...group.gated]) {
      const [field] = pod.needs.unsupported
      if (field) return { code: 'UnsupportedConstraint', field, podGroup: group.name }
    }
  }
  if (!gang.priorityClassExists) return { code: 'PriorityClassNotFound', name: gang.priorityClassName ?? '' }
  for (const group of gang.groups) {
    if (need(group) === 0) continue
    const missing = [...group.candidates, ...group.gated].flatMap(({ needs }) => needs.missing)[0]
    if (missing) return { code: 'ClaimNotFound', ...missing, podGroup: group.name }
  }
  for (const group of gang.groups) {
    const have = group.placed.length + group.candidates.length + group.gated.length
    if (have < group.minReplicas)
      return { code: 'PodsNotCreated', podGroup: group.name, have, need: group.minReplicas }
  }
  const first = gang.groups.find(group => need(group) > 0)
  const isHeldByBase = gang.baseGang !== undefined && !isBaseSatisfied(gang)
  if (first && !gang.initialized)
    return {
      code: 'PodsNotCreated',
      podGroup: first.name,
      have: first.placed.length + first.candidates.length + first.gated.length,
      need: first.minReplicas,
    }
  for (const group of gang.groups) {
    if (group.candidates.length >= need(group)) continue
    const gates = group.gated.flatMap(({ gates }) => gates)
    const gate = gates.find(name => name !== podSchedulingGate) ?? gates[0] ?? ''
    if (gate === podSchedulingGate && isHeldByBase) break
    return { code: 'PodsGated', podGroup: group.name, pods: group.gated.length, gate }
  }
  if (first && isHeldByBase) return { code: 'BaseGangNotScheduled', base: gang.baseGang ?? '' }
  return undefined
}
