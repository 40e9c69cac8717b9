// SPDX-License-Identifier: Apache-2.0
import { Optional } from '@marcbachmann/cel-js'
import { type FieldError, fieldError } from '../field-error.ts'
import { bracketedPath, childPath, type FieldPath, mapKeyPath } from '../field-path.ts'
import { isJsonObject } from '../json-value.ts'
import { inOrderOf, oldItems, oldMember, UNCORRELATED, unchanged } from '../structural-schema/correlation.ts'
import type { SchemaNode } from '../structural-schema/schema-node.ts'
import type { CompiledRule, RuleVariables } from './compiled-rule.ts'
import { toCel } from './value-conversion.ts'

interface RulePlace {
  readonly path: FieldPath | undefined
  readonly old: unknown
  /** Reports whether the nearest correlated value is unchanged, so that its violations existed before. */
  readonly isUnchanged: () => boolean
}

/** Evaluates the rules of a schema and of all nodes below. `old` is the stored object on update. */
export function validateRules(root: SchemaNode, value: unknown, old: unknown, errors: FieldError[]): void {
  visit(root, value, { path: undefined, old, isUnchanged: () => false }, true, errors)
}

function visit(
  node: SchemaNode,
  value: unknown,
  at: RulePlace,
  isResource: boolean,
  errors: FieldError[],
): void {
  if (!node.holds.rules || value === null || value === undefined) return
  const isUnchanged = at.old === UNCORRELATED ? at.isUnchanged : () => unchanged(node, value, at.old)
  const here: RulePlace = { ...at, isUnchanged }
  if (node.rules.length > 0) evaluateRules(node, node.rules, value, here, isResource, errors)
  for (const part of node.allOf) {
    if (part.rules.length > 0) evaluateRules(node, part.rules, value, at, isResource, errors)
  }
  if (Array.isArray(value)) visitItems(node, value, here, errors)
  else if (isJsonObject(value)) visitMembers(node, value, here, errors)
}

function visitItems(node: SchemaNode, list: readonly unknown[], at: RulePlace, errors: FieldError[]): void {
  const { items } = node
  if (!items?.holds.rules) return
  const correspondent = oldItems(node, at.old)
  for (const [index, item] of list.entries()) {
    const place = { ...at, path: childPath(at.path, index), old: correspondent(item) }
    visit(items, item, place, items.embeddedResource, errors)
  }
}

function visitMembers(
  node: SchemaNode,
  object: Record<string, unknown>,
  at: RulePlace,
  errors: FieldError[],
): void {
  for (const key of Object.keys(object)) {
    const property = node.properties.get(key)
    const child = property ?? (typeof node.additional === 'object' ? node.additional : undefined)
    if (!child?.holds.rules) continue
    const path = property ? childPath(at.path, key) : mapKeyPath(at.path, key)
    visit(child, object[key], { ...at, path, old: oldMember(at.old, key) }, child.embeddedResource, errors)
  }
}

function evaluateRules(
  node: SchemaNode,
  rules: readonly CompiledRule[],
  value: unknown,
  at: RulePlace,
  isResource: boolean,
  errors: FieldError[],
): void {
  const self = toCel(value, node, isResource)
  const hasOld = at.old !== UNCORRELATED && at.old !== null
  const oldSelf =
    hasOld && rules.some(rule => rule.usesOldSelf)
      ? toCel(inOrderOf(node, value, at.old), node, isResource)
      : undefined
  for (const rule of rules) {
    if (rule.usesOldSelf && !hasOld && !rule.optionalOldSelf) continue
    const variables: RuleVariables = rule.optionalOldSelf
      ? { self, oldSelf: oldSelf === undefined ? Optional.none() : Optional.of(oldSelf) }
      : { self, oldSelf }
    const error = validateSpec(rule, variables, node, value, at.path)
    if (error === undefined) continue
    if (error.violation && !rule.usesOldSelf && at.isUnchanged()) continue
    errors.push(error.error)
  }
}

function validateSpec(
  rule: CompiledRule,
  variables: RuleVariables,
  node: SchemaNode,
  value: unknown,
  path: FieldPath | undefined,
): { readonly violation: boolean; readonly error: FieldError } | undefined {
  const broken = (detail: string) => ({
    violation: false,
    error: fieldError.invalid(bracketedPath(path), node.types[0] ?? '', detail),
  })
  if (rule.compileError !== undefined) return broken(`rule compile error: ${rule.compileError}`)
  const verdict = rule.evaluate(variables)
  if (verdict.holds === true) return undefined
  if (verdict.holds === undefined) return broken(describeFailure(verdict.failure, rule))
  const detail = rule.explain(variables) ?? fixedMessage(rule)
  return { violation: true, error: violation(rule, detail, node, value, path) }
}

function describeFailure(failure: string, rule: CompiledRule): string {
  const name = rule.source.message?.trim() || rule.source.rule.trim()
  if (failure.startsWith('no such overload')) {
    return `'${failure}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`
  }
  return `${failure} evaluating rule: ${name}`
}

function fixedMessage(rule: CompiledRule): string {
  return rule.source.message ? rule.source.message.trim() : `failed rule: ${rule.source.rule.trim()}`
}

function violation(
  rule: CompiledRule,
  detail: string,
  node: SchemaNode,
  value: unknown,
  path: FieldPath | undefined,
): FieldError {
  const field = fieldOf(path, rule.fieldPath)
  const isContainer = node.types[0] === 'object' || node.types[0] === 'array'
  const shown = isContainer ? ({ valueOmitted: true } as const) : { value }
  switch (rule.source.reason) {
    case 'FieldValueForbidden':
      return fieldError.forbidden(field, detail)
    case 'FieldValueRequired':
      return fieldError.required(field, detail)
    case 'FieldValueDuplicate':
      return { kind: 'Duplicate value', field, detail: '', ...shown }
    default:
      return { kind: 'Invalid value', field, detail, ...shown }
  }
}

function fieldOf(path: FieldPath | undefined, relative: string): string {
  if (relative === '') return bracketedPath(path)
  if (path === undefined) return relative
  return `${bracketedPath(path)}${relative.startsWith('[') ? '' : '.'}${relative}`
}
