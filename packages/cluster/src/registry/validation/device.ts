// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, dns1123Subdomain, type FieldError, fieldError } from '@grove/apimachinery'
import type {
  ResourceDeviceClass,
  ResourceDeviceSelector,
  ResourceOpaqueDeviceConfiguration,
  ResourceResourceSlice,
} from '../../schema/types.generated.ts'
import { named, obeys } from './values.ts'

export function validateDeviceClass(object: ResourceDeviceClass): FieldError[] {
  const { selectors = [], config = [], extendedResourceName: name } = object.spec ?? {}
  return [
    ...validateDeviceSelectors(selectors, 'spec.selectors'),
    ...config.flatMap(({ opaque }, index) => validateOpaque(opaque, `spec.config[${index}].opaque`)),
    ...(name === undefined || name.includes('/')
      ? []
      : [
          fieldError.invalid(
            'spec.extendedResourceName',
            name,
            "a name must be a domain-prefixed path, such as 'example.com/my-prop'",
          ),
        ]),
  ]
}

/** CEL expressions are compiled by the allocator, not here. */
export function validateDeviceSelectors(
  selectors: readonly ResourceDeviceSelector[],
  field: string,
): FieldError[] {
  return selectors.flatMap(({ cel }, index) => (cel ? [] : [fieldError.required(`${field}[${index}].cel`)]))
}

export function validateOpaque(
  opaque: ResourceOpaqueDeviceConfiguration | undefined,
  field: string,
): FieldError[] {
  if (!opaque) return [fieldError.required(field)]
  return [
    ...named(opaque.driver, dns1123Subdomain, `${field}.driver`),
    ...(opaque.parameters === undefined || opaque.parameters === null
      ? [fieldError.required(`${field}.parameters`)]
      : []),
  ]
}

const places = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const

export function validateResourceSlice(object: ResourceResourceSlice): FieldError[] {
  const { spec = {} } = object
  const { driver, pool = {}, devices = [] } = spec
  const given = places.filter(place => spec[place])
  const why = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  const names = devices.map(({ name }) => name ?? '')
  return [
    ...named(driver, dns1123Subdomain, 'spec.driver'),
    ...(pool.name ? [] : [fieldError.required('spec.pool.name')]),
    ...((pool.resourceSliceCount ?? 0) <= 0
      ? [
          fieldError.invalid(
            'spec.pool.resourceSliceCount',
            pool.resourceSliceCount ?? 0,
            'must be greater than zero',
          ),
        ]
      : []),
    ...((pool.generation ?? 0) < 0
      ? [fieldError.invalid('spec.pool.generation', pool.generation, 'must be greater than or equal to zero')]
      : []),
    ...(spec.nodeName === ''
      ? [fieldError.invalid('spec.nodeName', '', 'must be either unset or set to a non-empty string')]
      : []),
    ...(given.length === 0 ? [fieldError.required('spec', why)] : []),
    ...(given.length > 1
      ? [
          fieldError.invalid(
            'spec',
            `{${given.map(place => `\`${place}\``).join(', ')}}`,
            `${why}, but multiple fields are set`,
          ),
        ]
      : []),
    ...names.flatMap((name, index) => obeys(name, dns1123Label, `spec.devices[${index}].name`)),
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index ? [fieldError.duplicate(`spec.devices[${index}]`, name)] : [],
    ),
  ]
}
