// SPDX-License-Identifier: Apache-2.0

import {
  dns1123Label,
  dns1123Subdomain,
  equalJson,
  type FieldError,
  fieldError,
  validateAnnotations,
  validateLabels,
} from '@grove/apimachinery'
import type {
  ResourceDeviceRequest,
  ResourceDeviceSubRequest,
  ResourceExactDeviceRequest,
  ResourceResourceClaim,
  ResourceResourceClaimSpec,
  ResourceResourceClaimStatus,
  ResourceResourceClaimTemplate,
} from '../../schema/types.generated.ts'
import { validateDeviceSelectors, validateOpaque } from './device.ts'
import { named, obeys, oneOf } from './values.ts'

const longestReservation = 256
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

export function validateClaim(object: ResourceResourceClaim): FieldError[] {
  return validateClaimSpec(object.spec ?? {}, 'spec')
}

export function validateClaimUpdate(object: ResourceResourceClaim, old: ResourceResourceClaim): FieldError[] {
  return equalJson(object.spec, old.spec) ? [] : [fieldError.immutable('spec', null)]
}

export function validateClaimTemplate(object: ResourceResourceClaimTemplate): FieldError[] {
  const { metadata = {}, spec = {} } = object.spec ?? {}
  return [
    ...(metadata.name ? [fieldError.forbidden('spec.metadata.name', 'cannot be set')] : []),
    ...validateLabels(metadata.labels ?? {}, 'spec.metadata.labels'),
    ...validateAnnotations(metadata.annotations ?? {}, 'spec.metadata.annotations'),
    ...validateClaimSpec(spec, 'spec.spec'),
  ]
}

/** The message of the real API server contains the whole template. */
export function validateClaimTemplateUpdate(
  object: ResourceResourceClaimTemplate,
  old: ResourceResourceClaimTemplate,
): FieldError[] {
  return equalJson(object.spec, old.spec) ? [] : [fieldError.immutable('spec', object.spec)]
}

function validateClaimSpec({ devices = {} }: ResourceResourceClaimSpec, field: string): FieldError[] {
  const at = `${field}.devices`
  const requests = devices.requests ?? []
  const known = requestNames(requests)
  return [
    ...requests.flatMap((request, index) => {
      const own = `${at}.requests[${index}]`
      return requests.findIndex(({ name }) => name === request.name) < index
        ? [fieldError.duplicate(own, request)]
        : validateRequest(request, own)
    }),
    ...(devices.constraints ?? []).flatMap((constraint, index) => [
      ...validateKnown(constraint.requests ?? [], known, `${at}.constraints[${index}].requests`),
      ...validateAttribute(constraint, `${at}.constraints[${index}]`),
    ]),
    ...(devices.config ?? []).flatMap(({ requests: named = [], opaque }, index) => [
      ...validateKnown(named, known, `${at}.config[${index}].requests`),
      ...validateOpaque(opaque, `${at}.config[${index}].opaque`),
    ]),
  ]
}

/** `gpu`, and `gpu/large` for a subrequest. */
function requestNames(requests: readonly ResourceDeviceRequest[]): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map(way => `${name}/${way.name}`),
    ]),
  )
}

function validateKnown(names: readonly string[], known: ReadonlySet<string>, field: string): FieldError[] {
  return names.flatMap((name, index) =>
    known.has(name) ? [] : [fieldError.invalid(`${field}[${index}]`, name, unknownRequest)],
  )
}

function validateRequest(request: ResourceDeviceRequest, field: string): FieldError[] {
  const { name, exactly, firstAvailable = [] } = request
  const errors = named(name, dns1123Label, `${field}.name`)
  const why = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly && firstAvailable.length > 0)
    return [...errors, fieldError.invalid(field, null, `${why}, but multiple fields are set`)]
  if (!exactly && firstAvailable.length === 0) return [...errors, fieldError.required(field, why)]
  if (exactly) return [...errors, ...validateDemand(exactly, `${field}.exactly`)]
  return [
    ...errors,
    ...firstAvailable.flatMap((way, index) => {
      const at = `${field}.firstAvailable[${index}]`
      if (firstAvailable.findIndex(other => other.name === way.name) < index)
        return [fieldError.duplicate(at, way)]
      return [...named(way.name, dns1123Label, `${at}.name`), ...validateDemand(way, at)]
    }),
  ]
}

function validateDemand(
  demand: ResourceExactDeviceRequest | ResourceDeviceSubRequest,
  field: string,
): FieldError[] {
  const { deviceClassName, allocationMode, count = 0, selectors = [] } = demand
  const errors = [
    ...named(deviceClassName, dns1123Subdomain, `${field}.deviceClassName`),
    ...validateDeviceSelectors(selectors, `${field}.selectors`),
    ...oneOf(allocationMode, ['All', 'ExactCount'], `${field}.allocationMode`),
  ]
  if (allocationMode === 'All' && count !== 0)
    errors.push(
      fieldError.invalid(`${field}.count`, count, "must not be specified when allocationMode is 'All'"),
    )
  if (allocationMode === 'ExactCount' && count <= 0)
    errors.push(fieldError.invalid(`${field}.count`, count, 'must be greater than zero'))
  return errors
}

function validateAttribute(
  { matchAttribute, distinctAttribute }: { matchAttribute?: string; distinctAttribute?: string },
  field: string,
): FieldError[] {
  if ((matchAttribute === undefined) === (distinctAttribute === undefined))
    return [
      fieldError.required(
        field,
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ),
    ]
  const part = matchAttribute === undefined ? 'distinctAttribute' : 'matchAttribute'
  const value = matchAttribute ?? distinctAttribute!
  return value.includes('/')
    ? []
    : [
        fieldError.invalid(
          `${field}.${part}`,
          value,
          'a fully qualified name must be a domain and a name separated by a slash',
        ),
      ]
}

/** An allocation is immutable until it is removed, and only an allocated claim can be reserved. */
export function validateClaimStatus(
  object: ResourceResourceClaim,
  oldObject: ResourceResourceClaim,
): FieldError[] {
  const { spec = {}, status = {} } = object
  const old = oldObject.status ?? {}
  const { allocation, reservedFor = [] } = status
  const errors = validateReservation(reservedFor)
  if (reservedFor.length > 0 && !allocation)
    errors.push(
      fieldError.forbidden('status.reservedFor', 'may not be specified when `allocated` is not set'),
    )
  if (!allocation) return errors
  if (old.allocation)
    return equalJson(allocation, old.allocation)
      ? errors
      : [...errors, fieldError.invalid('status.allocation', null, 'field cannot be modified once set')]
  return [...errors, ...validateAllocation(allocation, requestNames(spec.devices?.requests ?? []))]
}

function validateAllocation(
  { devices = {} }: NonNullable<ResourceResourceClaimStatus['allocation']>,
  known: ReadonlySet<string>,
): FieldError[] {
  return (devices.results ?? []).flatMap(({ request = '', driver = '', pool = '', device = '' }, index) => {
    const at = `status.allocation.devices.results[${index}]`
    return [
      ...(known.has(request)
        ? []
        : [
            ...obeys(request, dns1123Label, `${at}.request`),
            fieldError.invalid(`${at}.request`, request, unknownRequest),
          ]),
      ...obeys(device, dns1123Label, `${at}.device`),
      ...named(driver, dns1123Subdomain, `${at}.driver`),
      ...(pool === '' ? [fieldError.required(`${at}.pool`)] : []),
    ]
  })
}

function validateReservation(
  consumers: NonNullable<ResourceResourceClaimStatus['reservedFor']>,
): FieldError[] {
  const field = 'status.reservedFor'
  if (consumers.length > longestReservation)
    return [fieldError.tooMany(field, consumers.length, longestReservation)]
  return consumers.flatMap((consumer, index) => {
    const at = `${field}[${index}]`
    const missing = (['resource', 'name', 'uid'] as const).filter(part => !consumer[part])
    if (missing.length > 0) return missing.map(part => fieldError.required(`${at}.${part}`))
    return consumers.findIndex(({ uid }) => uid === consumer.uid) < index
      ? [fieldError.duplicate(at, consumer)]
      : []
  })
}
