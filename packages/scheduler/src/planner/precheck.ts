// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import type { Gang, SnapshotPod } from '../types.ts'
import { need } from './gang-demand.ts'

/** Why a gang is not planned at all: no node can change it. */
export type Obstacle =
  | { readonly code: 'UnsupportedConstraint'; readonly field: string; readonly podGroup: string }
  | { readonly code: 'PriorityClassNotFound'; readonly name: string }
  | {
      readonly code: 'ClaimNotFound'
      readonly kind: string
      readonly name: string
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

/** The gate that the operator keeps on pods of a scaled gang until the base gang is scheduled. */
const groveGate = 'grove.io/podgang-pending-creation'

export function obstacleOf(
  model: Model,
  gang: Gang,
  waiting: readonly Shape[],
  isBaseSatisfied: (gang: Gang) => boolean,
): Obstacle | undefined {
  for (const group of gang.groups) {
    if (need(group) === 0) continue
    for (const pod of [...group.candidates, ...group.gated]) {
      const field = unsupportedField(model, pod, waiting)
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
    const gate = gates.find(name => name !== groveGate) ?? gates[0] ?? ''
    if (gate === groveGate && gang.baseGang !== undefined && !isBaseSatisfied(gang))
      return { code: 'BaseGangNotScheduled', base: gang.baseGang }
    return { code: 'PodsGated', podGroup: group.name, pods: group.gated.length, gate }
  }
  return undefined
}

export function unsupportedField(
  model: Model,
  pod: SnapshotPod,
  waiting: readonly Shape[],
): string | undefined {
  return pod.needs.unsupported[0] ?? model.undecidable(model.shapes.of(pod), waiting)
}
