// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { DecodeError } from '../schema/decode.ts'
import { type ParsedBody, summarize, unknownOnly } from './body.ts'
import type { FieldValidation } from './options.ts'
import { apiVersionOf } from './presentation.ts'
import { apiError } from './status.ts'

/** Go's messages contain the source location where types are registered. */
export const schemeName = 'pkg/runtime/scheme.go:111'

/** The API server drops further warnings, to keep the size of the header bounded. */
const maximumStrictErrors = 100

/**
 * Decodes the body as an object of the resource: checks its kind, drops unknown fields and applies defaults.
 */
export function decodeObject(
  registry: Registry,
  resource: Resource,
  body: ParsedBody,
  validation: FieldValidation,
  warn: (text: string) => void,
): KubeObject {
  const { apiVersion, kind } = checkKind(registry, resource, body.value)
  const { object, unknownFields } = decodeValue(resource, { ...body.value, apiVersion, kind })
  if (validation !== 'Ignore') {
    const found = resource.struct ? body.strictErrors(unknownFields) : customErrors(body, unknownFields)
    const problems = found.slice(0, maximumStrictErrors)
    reportStrictErrors(resource, problems, validation, warn)
  }
  keepReset(object, body.value)
  resource.codec.applyDefaults(object)
  return object
}

/** Empty lists are dropped, except managedFields: an empty list resets the owners. */
export function keepReset(object: KubeObject, { metadata }: JsonObject): void {
  const sent = isJsonObject(metadata) ? metadata.managedFields : undefined
  if (Array.isArray(sent) && sent.length === 0) object.metadata.managedFields = []
}

/** Custom objects are pruned after parsing, so duplicate fields come first, then unknown fields. */
function customErrors(body: ParsedBody, unknownFields: readonly string[]): string[] {
  return [...body.strictErrors([]), ...unknownOnly(unknownFields)]
}

export function reportStrictErrors(
  resource: Resource,
  problems: readonly string[],
  validation: FieldValidation,
  warn: (text: string) => void,
): void {
  if (problems.length === 0 || validation === 'Ignore') return
  if (validation === 'Strict')
    throw cannotBeHandled(resource, `strict decoding error: ${problems.join(', ')}`)
  for (const problem of problems) warn(problem)
}

function decodeValue(resource: Resource, value: JsonObject): ReturnType<Resource['codec']['decode']> {
  try {
    return resource.codec.decode(value)
  } catch (error) {
    if (error instanceof DecodeError) throw cannotBeHandled(resource, error.message)
    throw error
  }
}

function cannotBeHandled(resource: Resource, why: string) {
  return apiError.badRequest(
    `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${why}`,
  )
}

/** A missing apiVersion or kind is taken from the path. */
function checkKind(
  registry: Registry,
  resource: Resource,
  value: JsonObject,
): { apiVersion: string; kind: string } {
  const wanted = apiVersionOf(resource)
  if (!resource.struct) return checkCustomKind(resource, value)
  const apiVersion = typeof value.apiVersion === 'string' && value.apiVersion ? value.apiVersion : wanted
  const kind = typeof value.kind === 'string' && value.kind ? value.kind : resource.kind
  if (apiVersion === wanted && kind === resource.kind) return { apiVersion, kind }
  const [group, version] = apiVersion.includes('/')
    ? (apiVersion.split('/') as [string, string])
    : ['', apiVersion]
  const known = registry.findKind(group, version, kind)
  const why =
    known?.struct && resource.struct
      ? `converting (${known.struct.goName}) to (${internalName(resource)}): unknown conversion`
      : `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${schemeName}"`
  throw apiError.badRequest(`${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${why}`)
}

/**
 * For custom kinds the path does not provide apiVersion and kind. Validation checks them with the rest of the
 * object.
 */
function checkCustomKind(resource: Resource, value: JsonObject): { apiVersion: string; kind: string } {
  const { apiVersion, kind } = value
  if (typeof kind !== 'string' || kind === '') throw missing(resource, value, 'Kind')
  if (typeof apiVersion !== 'string' || apiVersion === '') throw missing(resource, value, 'apiVersion')
  return { apiVersion, kind }
}

function missing(resource: Resource, value: JsonObject, field: string) {
  const text = JSON.stringify(value)
  return apiError.badRequest(
    `the object provided is unrecognized (must be of type ${resource.kind}): Object '${field}' is missing in '${text}' (${summarize({ body: text })})`,
  )
}

/** `core.ConfigMap`: the internal type that the real API server converts to. */
function internalName(resource: Resource): string {
  return resource.struct!.name.replace(/\/[^.]+\./, '.')
}
