// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, qualifiedName, validateLabels } from '@grove/apimachinery'
import type { LabelSelector } from '../../schema/types.generated.ts'

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

export function validateLabelSelector(selector: LabelSelector | undefined, field: string): FieldError[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  const errors = validateLabels(matchLabels, `${field}.matchLabels`)
  for (const [index, { key = '', operator = '', values = [] }] of matchExpressions.entries()) {
    const at = `${field}.matchExpressions[${index}]`
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      errors.push(fieldError.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
      errors.push(
        fieldError.forbidden(
          `${at}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      )
    if (!operators.includes(operator))
      errors.push(fieldError.invalid(`${at}.operator`, operator, 'not a valid selector operator'))
    errors.push(...qualifiedName(key).map(problem => fieldError.invalid(`${at}.key`, key, problem)))
  }
  return errors
}
