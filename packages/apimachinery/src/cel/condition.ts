// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'
import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import { conditionEnvironment } from './environment.ts'
import { describeEvaluationError } from './evaluation-error.ts'

/** An expression over JSON values without a schema, such as a match condition of an admission webhook. */
export interface Condition {
  /** Throws a ConditionError if the evaluation fails. */
  holds(variables: Readonly<Record<string, unknown>>): boolean
}

export type ConditionResult =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly error: string }

/** The expression could not be evaluated for these values. */
export class ConditionError extends Error {}

export function compileCondition(expression: string, variables: readonly string[]): ConditionResult {
  try {
    return compile(conditionEnvironment(variables), expression)
  } catch (error) {
    return { ok: false, error: `compilation failed: ERROR: <input>: ${describeEvaluationError(error)}` }
  }
}

function compile(environment: Environment, expression: string): ConditionResult {
  const parsed = environment.parse(expression)
  const checked = parsed.check()
  if (!checked.valid)
    return { ok: false, error: `compilation failed: ERROR: <input>: ${checked.error?.summary ?? ''}` }
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return { ok: false, error: `must evaluate to bool but got ${checked.type}` }
  const holds = (variables: Readonly<Record<string, unknown>>): boolean => {
    let result: unknown
    try {
      result = parsed(plainToCel(variables) as JsonObject)
    } catch (error) {
      throw new ConditionError(describeEvaluationError(error))
    }
    if (typeof result !== 'boolean') throw new ConditionError('the expression did not return a boolean')
    return result
  }
  return { ok: true, condition: { holds } }
}

/** Whole numbers are CEL integers, which the library represents as BigInt. */
function plainToCel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainToCel)
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  if (!isJsonObject(value)) return value ?? null
  const converted: JsonObject = {}
  for (const [key, inner] of Object.entries(value))
    if (inner !== undefined) setOwn(converted, key, plainToCel(inner))
  return converted
}
