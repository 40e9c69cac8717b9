// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError, quote } from '../field-error.ts'
import { childPath, dottedPath, type FieldPath, mapKeyPath } from '../field-path.ts'
import { equalJson, isJsonObject, type JsonObject, sortKeys } from '../json-value.ts'
import { oldItems, oldMember, UNCORRELATED, unchanged } from './correlation.ts'
import { checkNumber, checkString, invalid } from './scalar-validation.ts'
import { type JsonType, jsonTypeOf, type SchemaNode } from './schema-node.ts'

/**
 * Errors, and how many checks a value passed: among alternatives that all fail (anyOf, oneOf), the API server reports
 * the one with most passed checks.
 */
export interface Outcome {
  readonly errors: FieldError[]
  passed: number
}

export interface Place {
  readonly path: FieldPath | undefined
  /** The stored value that corresponds on update. */
  readonly old: unknown
}

/** Everything of a schema but keyed lists, embedded resources and rules. Errors of an unchanged value are dropped. */
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
  checkAlternatives(node, value, at, out)
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
    if (!fits && valueFormat !== format) return pushWrongType(format, valueFormat, path, out)
  }
  // The API server does not compare the type of a text or a list where a format other than a number's is given.
  const formatDecides = !numeric && format !== undefined && (type === 'string' || type === 'array')
  if (!formatDecides && !fits) return pushWrongType(types.join(','), type, path, out)
  out.passed++
}

function pushWrongType(expected: string, found: string, path: FieldPath | undefined, out: Outcome): void {
  const name = dottedPath(path)
  out.errors.push(
    fieldError.wrongType(name || '<nil>', found, `${name} in body must be of type ${expected}: ${quote(found)}`),
  )
}

function checkFormat(node: SchemaNode, text: string, path: FieldPath | undefined, out: Outcome): void {
  if (!node.formatCheck) return
  out.passed++
  if (!node.formatCheck(text)) pushWrongType(node.format!, text, path, out)
}

function checkEnum(node: SchemaNode, value: unknown, path: FieldPath | undefined, out: Outcome): void {
  if (node.enum === undefined) return
  // A null among the allowed values allows nothing: so the API server has it.
  if (value !== null && node.enum.some(allowed => allowed === value || equalJson(allowed, value))) return
  const allowed = node.enum.map(entry => (typeof entry === 'string' ? entry : JSON.stringify(entry)))
  out.errors.push(fieldError.unsupported(dottedPath(path) || '<nil>', value, allowed))
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
    // The type meta of the root is never carried over: both versions are shown in the version of the request.
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

function checkAlternatives(node: SchemaNode, value: unknown, at: Place, out: Outcome): void {
  out.passed += 2
  const name = quote(dottedPath(at.path))
  const attempt = (alternative: SchemaNode): Outcome => {
    const outcome: Outcome = { errors: [], passed: 0 }
    checkValue(alternative, value, at, outcome)
    return outcome
  }
  if (node.anyOf.length > 0) {
    const success = firstSuccess(node.anyOf, attempt)
    if (typeof success === 'number') out.passed += success
    else {
      out.errors.push(fieldError.invalid('<nil>', '', `${name} must validate at least one schema (anyOf)`))
      merge(success, out)
    }
  }
  if (node.oneOf.length > 0) {
    const outcomes = node.oneOf.map(attempt)
    const successes = outcomes.filter(outcome => outcome.errors.length === 0)
    if (successes.length === 1) out.passed += successes[0]!.passed
    else {
      const found = successes.length === 0 ? 'Found none valid' : `Found ${successes.length} valid alternatives`
      out.errors.push(
        fieldError.invalid('<nil>', '', `${name} must validate one and only one schema (oneOf). ${found}`),
      )
      if (successes.length === 0) merge(best(outcomes), out)
    }
  }
  if (node.allOf.length > 0) {
    const outcomes = node.allOf.map(attempt)
    for (const outcome of outcomes) merge(outcome, out)
    const failed = outcomes.filter(outcome => outcome.errors.length > 0).length
    if (failed > 0) {
      const none = failed === outcomes.length ? '. None validated' : ''
      out.errors.push(fieldError.invalid('<nil>', '', `${name} must validate all the schemas (allOf)${none}`))
    }
  }
  if (node.not && attempt(node.not).errors.length === 0) {
    out.errors.push(fieldError.invalid('<nil>', '', `${name} must not validate the schema (not)`))
  }
}

/** The number of passed checks of the first alternative that fits, or the best of the failures. */
function firstSuccess(
  alternatives: readonly SchemaNode[],
  attempt: (alternative: SchemaNode) => Outcome,
): number | Outcome {
  const failures: Outcome[] = []
  for (const alternative of alternatives) {
    const outcome = attempt(alternative)
    if (outcome.errors.length === 0) return outcome.passed
    failures.push(outcome)
  }
  return best(failures)
}

function best(failures: readonly Outcome[]): Outcome {
  return failures.reduce((a, b) => (b.passed > a.passed ? b : a))
}

function merge(from: Outcome, into: Outcome): void {
  for (const error of from.errors) into.errors.push(error)
  into.passed += from.passed
}

export function isResource(value: unknown): value is JsonObject {
  return isJsonObject(value)
}
