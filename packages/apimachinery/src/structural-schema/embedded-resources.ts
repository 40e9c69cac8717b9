// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from '../field-error.ts'
import { bracketedPath, childPath, type FieldPath, mapKeyPath } from '../field-path.ts'
import { isJsonObject, type JsonObject } from '../json-value.ts'
import { dns1035Label } from '../names.ts'
import { validateObjectMeta } from '../object-meta.ts'
import type { SchemaNode } from './schema-node.ts'

/** Validates that embedded resources have an apiVersion, a kind and valid metadata. */
export function validateEmbeddedResources(
  node: SchemaNode,
  value: unknown,
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  if (!node.holds.embeddedResources) return
  if (Array.isArray(value)) {
    if (!node.items) return
    for (const [index, item] of value.entries()) {
      validateEmbeddedResources(node.items, item, childPath(path, index), errors)
    }
  } else if (isJsonObject(value)) {
    if (node.embeddedResource) errors.push(...validateResource(value, path))
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key)
      if (property) validateEmbeddedResources(property, value[key], childPath(path, key), errors)
      else if (typeof node.additional === 'object') {
        validateEmbeddedResources(node.additional, value[key], mapKeyPath(path, key), errors)
      }
    }
  }
}

function validateResource(resource: JsonObject, path: FieldPath | undefined): FieldError[] {
  const field = (name: string) => bracketedPath(childPath(path, name))
  const errors: FieldError[] = []
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name]
    if (value === undefined) errors.push(fieldError.required(field(name)))
    else if (typeof value !== 'string')
      errors.push(fieldError.invalid(field(name), value, 'must be a string'))
    else if (value === '') errors.push(fieldError.invalid(field(name), value, 'must not be empty'))
  }
  const { apiVersion, kind, metadata } = resource
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    errors.push(
      fieldError.invalid(field('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`),
    )
  }
  if (typeof kind === 'string' && kind !== '') {
    const problems = dns1035Label(kind.toLowerCase())
    if (problems.length > 0) {
      const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`
      errors.push(fieldError.invalid(field('kind'), kind, detail))
    }
  }
  if (isJsonObject(metadata)) {
    const named = metadata.name ? metadata : { ...metadata, name: 'unnamed' }
    const rules = { namespaced: Boolean(metadata.namespace), name: pathSegment }
    errors.push(...validateObjectMeta(named, rules, field('metadata')))
  }
  return errors
}

/** An embedded resource may have any kind, so its name only has to be a valid path segment. */
function pathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter(part => name.includes(part)).map(part => `may not contain '${part}'`)
}
