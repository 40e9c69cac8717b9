// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, PodCliqueSetUpdateStrategy } from '../../types/index.ts'

const least: readonly (readonly [member: keyof PodCliqueSetUpdateStrategy, minimum: number])[] = [
  ['partition', 0],
  ['maxUnavailable', 1],
  ['progressDeadlineSeconds', 1],
]

/** With OnDelete the members that steer a rolling update are kept and mean nothing, so that switching loses nothing. */
export function validateUpdateStrategy({ spec: { updateStrategy } }: PodCliqueSet): FieldError[] {
  return least.flatMap(([member, minimum]) => {
    const value = updateStrategy?.[member]
    if (typeof value !== 'number' || value >= minimum) return []
    return [
      fieldError.invalid(
        `spec.updateStrategy.${member}`,
        value,
        `must be greater than or equal to ${minimum}`,
      ),
    ]
  })
}
