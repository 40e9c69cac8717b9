// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet } from '../../types/index.ts'
import { path } from './paths.ts'
import { repeatedNames } from './repeated-names.ts'

/** Validates the claim templates in the PodCliqueSet itself. */
export function validateClaimTemplates(set: PodCliqueSet): FieldError[] {
  const field = `${path.template}.resourceClaimTemplates`
  const templates = set.spec.template.resourceClaimTemplates ?? []
  const errors: FieldError[] = []
  templates.forEach((template, index) => {
    if (template.name === '') {
      errors.push(fieldError.required(`${field}[${index}].name`, 'template name is required'))
    }
    if ((template.templateSpec.spec.devices?.requests ?? []).length === 0) {
      errors.push(
        fieldError.required(
          `${field}[${index}].templateSpec.spec.devices.requests`,
          'at least one device request is required',
        ),
      )
    }
  })
  const repeated = repeatedNames(templates.map(template => template.name))
  if (repeated.length > 0) errors.push(fieldError.duplicate(`${field}.name`, repeated))
  return errors
}
