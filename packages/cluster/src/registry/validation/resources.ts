// SPDX-License-Identifier: Apache-2.0

import {
  compareQuantities,
  type FieldError,
  fieldError,
  parseQuantity,
  qualifiedName,
  quantityValue,
} from '@grove/apimachinery'
import type { Container } from '../../schema/types.generated.ts'
import { obeys } from './values.ts'

export function validateResources({ resources }: Container, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const part of ['limits', 'requests'] as const)
    for (const [name, quantity] of Object.entries(resources?.[part] ?? {}))
      errors.push(...validateResource(name, quantity, `${field}.${part}[${name}]`))
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

function validateResource(name: string, quantity: string, field: string): FieldError[] {
  const errors = validateName(name, field)
  if (quantity.startsWith('-'))
    errors.push(fieldError.invalid(field, quantity, 'must be greater than or equal to 0'))
  if (isExtended(name) && !isInteger(quantity))
    errors.push(fieldError.invalid(field, quantity, 'must be an integer'))
  return errors
}

const resourcesOfContainers = new Set(['cpu', 'memory', 'ephemeral-storage'])

function validateName(name: string, field: string): FieldError[] {
  const errors = obeys(name, qualifiedName, field)
  if (!name.includes('/')) {
    if (resourcesOfContainers.has(name) || name.startsWith(hugePages)) return errors
    if (errors.length === 0)
      errors.push(fieldError.invalid(field, name, 'must be a standard resource type or fully qualified'))
    errors.push(fieldError.invalid(field, name, 'must be a standard resource for containers'))
  } else if (!isNative(name) && !isExtended(name))
    errors.push(fieldError.invalid(field, name, "doesn't follow extended resource name standard"))
  return errors
}

const hugePages = 'hugepages-'

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

/** The name of the resource in a quota, `requests.NAME`, must be valid, too. */
function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0
}

function isInteger(quantity: string): boolean {
  return quantityValue(parseQuantity(quantity), -3) % 1000n === 0n
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
  return isNative(resource) && !resource.startsWith(hugePages)
}
