// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, PodCliqueSetUpdateStrategy } from '../../types/index.ts'

/** With OnDelete the members that steer a rolling update are kept and mean nothing, so that switching loses nothing. */
export function validateUpdateStrategy({ spec: { updateStrategy } }: PodCliqueSet): FieldError[] {
  return [
    ...refusal(updateStrategy, 'partition', 0),
    // An update that may neither take a replica down nor make one more could never begin.
    ...refusal(updateStrategy, 'maxUnavailable', (updateStrategy?.maxSurge ?? 0) > 0 ? 0 : 1),
    ...refusal(updateStrategy, 'maxSurge', 0),
    ...refusal(updateStrategy, 'progressDeadlineSeconds', 1),
  ]
}

function refusal(
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
