// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from '../field-error.ts'
import { childPath, dottedPath, type FieldPath, mapKeyPath } from '../field-path.ts'
import { equalJson, type JsonObject, sortKeys } from '../json-value.ts'
import { quote } from '../quote.ts'
import { checkAlternatives, type Outcome } from './alternatives.ts'
import { oldItems, oldMember, UNCORRELATED, unchanged } from './correlation.ts'
import { checkNumber, checkString, invalid } from './scalar-validation.ts'
import { type JsonType, jsonTypeOf, type SchemaNode } from './schema-node.ts'

export interface Place {
  readonly path: FieldPath | undefined
  /** The correlated stored value on update. */
  readonly old: unknown
}

/**
 * Validates everything except keyed lists, embedded resources and rules. Errors of an unchanged value are
 * dropped.
 */
export function validateValue(node: SchemaNode, value: unknown, at: Place, out: Outcome): void {
  const before = out.errors.length
  checkValue(node, value, at, out)
  if (out.errors.length > before && unchanged(node, value, at.old)) out.errors.length = before
}

function checkValue(node: SchemaNode, value: unknown, at: Place, out: Outcome): void {
  const type = jsonTypeOf(value)
  if (type === 'null') {
    if (node.types.length > 0 && !node.nullable) pushWrongType(node.types.join(','), 'null', at.path, out)
    else out.passed++
    checkEnum(node, value, at.path, out)
    return
  }
  checkType(node, type, at.path, out)
  out.passed += 2
  if (node.hasAlternatives) {
    checkAlternatives(node, at.path, out, alternative => {
      const attempt: Outcome = { errors: [], passed: 0 }
      checkValue(alternative, value, at, attempt)
      return attempt
    })
  }
  switch (type) {
    case 'string':
      if (node.string) checkString(node.string, value as string, at.path, out.errors)
      out.passed++
      checkFormat(node, value as string, at.path, out)
      break
    case 'integer':
    case 'number':
      checkNumber(node, Number(value), type, at.path, out.errors)
      out.passed += 2
      break
    case 'array':
      checkList(node, value as readonly unknown[], at, out)
      out.passed += 2
      break
    default:
      break
  }
  checkEnum(node, value, at.path, out)
  out.passed++
  if (type === 'object') {
    checkObject(node, value as JsonObject, at, out)
    out.passed++
  }
  out.passed++
}

function checkType(node: SchemaNode, type: JsonType, path: FieldPath | undefined, out: Outcome): void {
  const { types, format } = node
  if (types.length === 0 && format === undefined) return
  out.passed++
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'))
  const numeric = types.includes('integer') || types.includes('number')
  if (type !== 'string' && type !== 'array' && format !== undefined) {
    const valueFormat = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
    if (!fits && valueFormat !== format) {
      pushWrongType(format, valueFormat, path, out)
      return
    }
  }
  // The API server does not check the type of a string or list that has a non-numeric format.
  const formatDecides = !numeric && format !== undefined && (type === 'string' || type === 'array')
  if (fits || formatDecides) out.passed++
  else pushWrongType(types.join(','), type, path, out)
}

function pushWrongType(expected: string, found: string, path: FieldPath | undefined, out: Outcome): void {
  const name = dottedPath(path)
  out.errors.push(
    fieldError.wrongType(
      name || '<nil>',
      found,
      `${name} in body must be of type ${expected}: ${quote(found)}`,
    ),
  )
}

function checkFormat(node: SchemaNode, text: string, path: FieldPath | undefined, out: Outcome): void {
  if (!node.formatCheck) return
  out.passed++
  if (!node.formatCheck(text)) pushWrongType(node.format!, text, path, out)
}

function checkEnum(node: SchemaNode, value: unknown, path: FieldPath | undefined, out: Outcome): void {
  if (node.enum === undefined) return
  // A null in an enum allows nothing, as in the API server.
  if (value !== null && node.enum.some(allowed => isAllowed(allowed, value))) return
  const allowed = node.enum.map(entry => (typeof entry === 'string' ? entry : JSON.stringify(entry)))
  out.errors.push(fieldError.unsupported(dottedPath(path) || '<nil>', value, allowed))
}

function isAllowed(allowed: unknown, value: unknown): boolean {
  if (allowed === value) return true
  // The API server converts a number to the type of the enum value before it compares: 1.5 is allowed if 1
  // is.
  if (typeof allowed === 'number' && typeof value === 'number') {
    return Number.isInteger(allowed) && Math.trunc(value) === allowed
  }
  return typeof allowed === 'object' && equalJson(allowed, value)
}

function checkList(node: SchemaNode, list: readonly unknown[], at: Place, out: Outcome): void {
  const { items } = node
  if (items) {
    const correspondent = at.old === UNCORRELATED ? undefined : oldItems(node, at.old)
    for (let index = 0; index < list.length; index++) {
      const item = list[index]
      const old = correspondent ? correspondent(item) : UNCORRELATED
      validateValue(items, item, { path: childPath(at.path, index), old }, out)
    }
  }
  if (node.minItems !== undefined && list.length < node.minItems) {
    out.errors.push(invalid(at.path, list.length, `should have at least ${node.minItems} items`))
  }
  if (node.maxItems !== undefined && list.length > node.maxItems) {
    out.errors.push(fieldError.tooMany(dottedPath(at.path) || '<nil>', list.length, node.maxItems))
  }
  if (node.uniqueItems && new Set(list.map(item => JSON.stringify(sortKeys(item)))).size < list.length) {
    out.errors.push(invalid(at.path, '', "shouldn't contain duplicates"))
  }
}

function checkObject(node: SchemaNode, object: JsonObject, at: Place, out: Outcome): void {
  const keys = Object.keys(object)
  if (node.minProperties !== undefined && keys.length < node.minProperties) {
    out.errors.push(invalid(at.path, keys.length, `should have at least ${node.minProperties} properties`))
  }
  if (node.maxProperties !== undefined && keys.length > node.maxProperties) {
    out.errors.push(fieldError.tooMany(dottedPath(at.path) || '<nil>', keys.length, node.maxProperties))
  }
  for (const key of keys) {
    const value = object[key]
    if (value === undefined) continue
    const property = node.properties.get(key)
    if (property === undefined && node.additional === false) {
      out.errors.push(forbiddenProperty(at.path, key))
      continue
    }
    const child = property ?? (typeof node.additional === 'object' ? node.additional : undefined)
    if (child === undefined) continue
    const path = property ? childPath(at.path, key) : mapKeyPath(at.path, key)
    // apiVersion and kind of the root are never tolerated as unchanged, because both objects have the version
    // of the request.
    const isTypeMeta = at.path === undefined && (key === 'apiVersion' || key === 'kind')
    validateValue(child, value, { path, old: isTypeMeta ? UNCORRELATED : oldMember(at.old, key) }, out)
  }
  for (const key of node.required) {
    if (!Object.hasOwn(object, key) || object[key] === undefined) {
      out.errors.push(fieldError.required(dottedPath(childPath(at.path, key))))
    }
  }
}

function forbiddenProperty(path: FieldPath | undefined, key: string): FieldError {
  const name = dottedPath(path)
  return fieldError.invalid(name || '<nil>', key, `${name}.${key} in body is a forbidden property`)
}
