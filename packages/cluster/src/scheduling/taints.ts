// SPDX-License-Identifier: Apache-2.0

import type { Taint, Toleration } from '../schema/types.generated.ts'

export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true
    case 'Equal':
    case '':
      return (toleration.value ?? '') === (taint.value ?? '')
    default:
      return false
  }
}

/** Returns the first untolerated taint with one of these effects. */
export function untoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  ...effects: readonly TaintEffect[]
): Taint | undefined {
  return taints?.find(
    taint =>
      effects.includes(taint.effect as TaintEffect) &&
      !tolerations?.some(toleration => tolerates(toleration, taint)),
  )
}
