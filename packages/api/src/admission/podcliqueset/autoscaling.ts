// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { CliqueTemplate } from '../../types/index.ts'
import { path } from './paths.ts'

/** Validates the autoscaler bounds of a standalone clique, which is not a member of a scaling group. */
export function validateCliqueAutoscaling(clique: CliqueTemplate, index: number): FieldError[] {
  const { autoScalingConfig: bounds, minAvailable, replicas } = clique.spec
  if (!bounds) return []
  const field = `${path.clique(index)}.spec.autoScalingConfig`
  const errors: FieldError[] = []
  const { minReplicas, maxReplicas } = bounds
  if (minReplicas === undefined) {
    errors.push(fieldError.required(`${field}.minReplicas`, 'field is required'))
  } else {
    if (minAvailable !== undefined && minReplicas < minAvailable) {
      errors.push(
        fieldError.invalid(
          `${field}.minReplicas`,
          minReplicas,
          'must be greater than or equal to podCliqueSpec.minAvailable',
        ),
      )
    }
    if (maxReplicas < minReplicas) {
      errors.push(
        fieldError.invalid(
          `${field}.maxReplicas`,
          maxReplicas,
          'must be greater than or equal to podCliqueSpec.minReplicas',
        ),
      )
    }
  }
  if (maxReplicas < replicas) {
    errors.push(
      fieldError.invalid(`${field}.maxReplicas`, maxReplicas, 'must be greater than or equal to replicas'),
    )
  }
  return errors
}
