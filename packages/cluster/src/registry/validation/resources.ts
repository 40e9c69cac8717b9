// SPDX-License-Identifier: Apache-2.0

import { compareQuantities, type FieldError, fieldError, parseQuantity } from '@grove/apimachinery'
import type { Container } from '../../schema/types.generated.ts'

export function validateResources({ resources }: Container, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const part of ['limits', 'requests'] as const)
    for (const [name, quantity] of Object.entries(resources?.[part] ?? {}))
      if (quantity.startsWith('-'))
        errors.push(
          fieldError.invalid(`${field}.${part}[${name}]`, quantity, 'must be greater than or equal to 0'),
        )
  const { requests = {}, limits = {} } = resources ?? {}
  for (const [name, quantity] of Object.entries(requests)) {
    const limit = limits[name]
    if (limit === undefined) {
      if (!mayBeOvercommitted(name))
        errors.push(
          fieldError.required(`${field}.limits`, 'Limit must be set for non overcommitable resources'),
        )
    } else if (limit !== quantity)
      errors.push(...validateRequest({ name, quantity, limit }, `${field}.requests`))
  }
  return errors
}

interface Request {
  readonly name: string
  readonly quantity: string
  readonly limit: string
}

function validateRequest({ name, quantity, limit }: Request, field: string): FieldError[] {
  const order = compareQuantities(parseQuantity(quantity), parseQuantity(limit))
  if (order !== 0 && !mayBeOvercommitted(name))
    return [fieldError.invalid(field, quantity, `must be equal to ${name} limit of ${limit}`)]
  return order > 0
    ? [fieldError.invalid(field, quantity, `must be less than or equal to ${name} limit of ${limit}`)]
    : []
}

/** Extended resources and huge pages cannot be overcommitted. cpu and memory can. */
function mayBeOvercommitted(resource: string): boolean {
  const native = !resource.includes('/') || resource.includes('kubernetes.io/')
  return native && !resource.startsWith('hugepages-')
}
