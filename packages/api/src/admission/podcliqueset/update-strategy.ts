// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, PodCliqueSetUpdateStrategy } from '../../types/index.ts'

/** With OnDelete the fields of a rolling update are kept without effect, so that switching the type loses nothing. */
export function validateUpdateStrategy({ spec: { updateStrategy } }: PodCliqueSet): FieldError[] {
  return [
    ...belowMinimum(updateStrategy, 'partition', 0),
    // An update that may neither remove nor add a replica could never start.
    ...belowMinimum(updateStrategy, 'maxUnavailable', (updateStrategy?.maxSurge ?? 0) > 0 ? 0 : 1),
    ...belowMinimum(updateStrategy, 'maxSurge', 0),
    ...belowMinimum(updateStrategy, 'progressDeadlineSeconds', 1),
  ]
}

function belowMinimum(
  strategy: PodCliqueSetUpdateStrategy | undefined,
  member: keyof PodCliqueSetUpdateStrategy,
  minimum: number,
): FieldError[] {
  const value = strategy?.[member]
  if (typeof value !== 'number' || value >= minimum) return []
  const unless = member === 'maxUnavailable' && minimum === 1 ? ', unless maxSurge is greater than 0' : ''
  return [
    fieldError.invalid(
      `spec.updateStrategy.${member}`,
      value,
      `must be greater than or equal to ${minimum}${unless}`,
    ),
  ]
}
