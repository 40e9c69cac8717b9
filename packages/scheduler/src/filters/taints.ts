// SPDX-License-Identifier: Apache-2.0
import type { Taint, Toleration } from '@grove/api'
import type { PodNeeds, SnapshotNode } from '../types.ts'

/** The taint that a cordoned node counts as having. */
export const cordonTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(toleration => matches(toleration, taint))
}

function matches({ key = '', operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  switch (operator || 'Equal') {
    case 'Exists':
      return true
    case 'Equal':
      // A toleration without a key must be Exists; the API server rejects any other.
      return key !== '' && value === (taint.value ?? '')
    case 'Gt':
    case 'Lt': {
      const wanted = integer(value)
      const actual = integer(taint.value)
      if (key === '' || wanted === undefined || actual === undefined) return false
      return operator === 'Gt' ? actual > wanted : actual < wanted
    }
    default:
      return false
  }
}

function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^(0|-?[1-9]\d{0,17})$/.test(text) ? BigInt(text) : undefined
}

/** PreferNoSchedule excludes no node. */
export function keepsAway(taint: Taint): boolean {
  return taint.effect === 'NoSchedule' || taint.effect === 'NoExecute'
}

export function toleratesTaints({ tolerations }: PodNeeds, { taints }: SnapshotNode): boolean {
  return taints.every(taint => !keepsAway(taint) || tolerates(tolerations, taint))
}

export function toleratesCordon({ tolerations }: PodNeeds, { unschedulable }: SnapshotNode): boolean {
  return !unschedulable || tolerates(tolerations, cordonTaint)
}
