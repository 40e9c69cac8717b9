// SPDX-License-Identifier: Apache-2.0

import { goValue } from '../apply/go-text.ts'
import { type FieldError, fieldError } from '../field-error.ts'
import { isJsonObject } from '../json-value.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../object-meta.ts'
import type { CompiledSchema } from './compile.ts'
import { validate } from './validate.ts'

/** The properties of a served version of a custom resource that validation needs. */
export interface CustomResourceType {
  readonly apiVersion: string
  readonly kind: string
  readonly namespaced: boolean
  readonly schema: CompiledSchema
  /** The paths of the scale subresource, such as `.spec.replicas`. */
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
}

/**
 * Validates a custom resource like the API server after admission: type, metadata, schema, scale paths, keyed
 * lists and rules. `old` is the stored object on update.
 */
export function validateCustomResource(
  type: CustomResourceType,
  object: unknown,
  old?: unknown,
): FieldError[] {
  const resource = isJsonObject(object) ? object : {}
  const typeErrors = validateTypeMeta(type, resource)
  if (typeErrors.length > 0) return typeErrors
  const submitted = asSubmitted(resource.metadata)
  const metadata =
    old === undefined
      ? validateObjectMeta(submitted, { namespaced: type.namespaced })
      : validateObjectMetaUpdate(submitted, isJsonObject(old) ? asSubmitted(old.metadata) : undefined)
  return validate(type.schema, object, old, { metadata, scale: validateScale(type, resource) })
}

/** Removes the metadata that only the API server sets. */
function asSubmitted(metadata: unknown): unknown {
  if (!isJsonObject(metadata)) return metadata
  const { generation: _, managedFields: __, ...rest } = metadata
  return rest
}

function validateTypeMeta(type: CustomResourceType, resource: Record<string, unknown>): FieldError[] {
  return (['kind', 'apiVersion'] as const)
    .filter(name => resource[name] !== type[name])
    .map(name => fieldError.invalid(name, resource[name] ?? '', `must be ${type[name]}`))
}

/** Validates the fields of the scale subresource. Their paths have a leading dot. */
function validateScale(type: CustomResourceType, resource: Record<string, unknown>): FieldError[] {
  if (!type.scale) return []
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = type.scale
  const errors: FieldError[] = []
  for (const path of [specReplicasPath, statusReplicasPath]) {
    const replicas = read(resource, path)
    if (replicas === undefined) continue
    if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
      errors.push(fieldError.invalid(path, 0, accessorError(path, replicas, 'int64')))
    } else if (replicas < 0) {
      errors.push(fieldError.invalid(path, replicas, 'should be a non-negative integer'))
    } else if (replicas > 2 ** 31 - 1) {
      errors.push(fieldError.invalid(path, replicas, `should be less than or equal to ${2 ** 31 - 1}`))
    }
  }
  const selector = labelSelectorPath ? read(resource, labelSelectorPath) : undefined
  if (selector !== undefined && typeof selector !== 'string') {
    errors.push(
      fieldError.invalid(labelSelectorPath!, '', accessorError(labelSelectorPath!, selector, 'string')),
    )
  }
  return errors
}

function read(resource: Record<string, unknown>, path: string): unknown {
  let at: unknown = resource
  for (const name of path.replace(/^\./, '').split('.')) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

function accessorError(path: string, value: unknown, expected: string): string {
  return `${path} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected ${expected}`
}

/** The name of the Go type that a JSON value is decoded into. */
function goType(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    default:
      return 'map[string]interface {}'
  }
}
