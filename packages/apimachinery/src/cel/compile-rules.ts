// SPDX-License-Identifier: Apache-2.0
import type { ParseResult } from '@marcbachmann/cel-js'
import type { JSONSchemaProps, ValidationRule } from '../structural-schema/json-schema-props.ts'
import type { CompiledRule, RuleVariables, Verdict } from './compiled-rule.ts'
import { ruleEnvironment } from './environment.ts'
import { describeEvaluationError } from './evaluation-error.ts'

const maxMessageBytes = 5 * 1024

/**
 * Compiles the rules of a schema node. A rule that does not compile stays in the list and is reported during
 * validation.
 */
export function compileRules(schema: JSONSchemaProps): CompiledRule[] {
  return (schema['x-kubernetes-validations'] ?? []).map(rule => compileRule(rule, schema))
}

function compileRule(source: ValidationRule, schema: JSONSchemaProps): CompiledRule {
  const optionalOldSelf = source.optionalOldSelf ?? false
  const rule = compileExpression(source.rule, optionalOldSelf, ['bool', 'dyn'])
  const message = source.messageExpression
    ? compileExpression(source.messageExpression, optionalOldSelf, ['string', 'dyn'])
    : undefined
  const fieldPath = relativePath(source.fieldPath ?? '', schema)
  return {
    source,
    usesOldSelf: typeof rule !== 'string' && mentions(rule.ast, 'oldSelf'),
    optionalOldSelf,
    fieldPath: fieldPath ?? '',
    compileError: [
      typeof rule === 'string' ? rule : undefined,
      typeof message === 'string' ? `messageExpression: ${message}` : undefined,
      fieldPath === undefined ? `fieldPath ${source.fieldPath} does not refer to a valid field` : undefined,
    ].find(error => error !== undefined),
    evaluate: variables => evaluate(rule, variables),
    explain: variables => explain(message, variables),
  }
}

/** Returns the parsed expression or the compile error. */
function compileExpression(
  expression: string,
  optionalOldSelf: boolean,
  results: readonly string[],
): ParseResult | string {
  try {
    const parsed = ruleEnvironment(optionalOldSelf).parse(expression)
    const checked = parsed.check()
    if (!checked.valid) return checked.error?.summary ?? 'the expression has no valid type'
    if (!results.includes(checked.type ?? '')) return `cel expression must evaluate to a ${results[0]}`
    return parsed
  } catch (error) {
    return describeEvaluationError(error)
  }
}

function evaluate(rule: ParseResult | string, variables: RuleVariables): Verdict {
  if (typeof rule === 'string') return { holds: undefined, failure: rule }
  try {
    const result: unknown = rule(variables)
    if (typeof result === 'boolean') return { holds: result }
    return { holds: undefined, failure: 'the rule did not return a boolean' }
  } catch (error) {
    return { holds: undefined, failure: describeEvaluationError(error) }
  }
}

function explain(message: ParseResult | string | undefined, variables: RuleVariables): string | undefined {
  if (message === undefined || typeof message === 'string') return undefined
  try {
    const result: unknown = message(variables)
    const text = typeof result === 'string' ? result.trim() : ''
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > maxMessageBytes ? undefined : text
  } catch {
    // If messageExpression fails, the fixed message is reported instead.
    return undefined
  }
}

function mentions(node: unknown, variable: string): boolean {
  if (Array.isArray(node)) return node.some(part => mentions(part, variable))
  if (typeof node !== 'object' || node === null || !('op' in node) || !('args' in node)) return false
  return (node.op === 'id' && node.args === variable) || mentions(node.args, variable)
}

/**
 * `.spec.template['x']` → `spec.template.x`, with map keys in brackets. Undefined if the schema has no such
 * field.
 */
function relativePath(fieldPath: string, schema: JSONSchemaProps): string | undefined {
  let at: JSONSchemaProps | undefined = schema
  let path = ''
  let rest = fieldPath
  while (rest !== '') {
    const match = /^\.([^.[\]]+)/.exec(rest) ?? /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest)
    if (!match || at === undefined) return undefined
    const name = match[0].startsWith('.') ? match[1]! : match[1]!.replace(/\\(.)/g, '$1')
    if (at.properties) {
      if (!Object.hasOwn(at.properties, name)) return undefined
      path += path === '' ? name : `.${name}`
      at = at.properties[name]
    } else if (typeof at.additionalProperties === 'object') {
      path += `[${name}]`
      at = at.additionalProperties
    } else {
      return undefined
    }
    rest = rest.slice(match[0].length)
  }
  return path
}
