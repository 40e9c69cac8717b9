// SPDX-License-Identifier: Apache-2.0

import { type Condition, ConditionError, compileCondition, type JsonObject } from '@grove/apimachinery'
import type { AdmissionAttributes } from '../server/admission.ts'
import { type ApiError, apiError } from '../server/status.ts'
import type { Hook } from './hooks.ts'

/** The variables of a match condition. */
export const conditionVariables = ['object', 'oldObject', 'request']

/** Hooks are read again only when a configuration changes, so their conditions are compiled once. */
const compiled = new WeakMap<Hook, readonly Condition[]>()

function conditionsOf(hook: Hook): readonly Condition[] {
  let conditions = compiled.get(hook)
  if (!conditions) {
    conditions = (hook.matchConditions ?? []).map(({ expression = '' }) => {
      const result = compileCondition(expression, conditionVariables)
      if (result.ok) return result.condition
      // Validation rejects such a condition, so only a store from disk can contain it.
      return { holds: () => fail(result.error) }
    })
    compiled.set(hook, conditions)
  }
  return conditions
}

function fail(why: string): never {
  throw new ConditionError(why)
}

/**
 * Reports whether all match conditions hold. A false condition takes precedence over an evaluation error. For
 * errors the failure policy decides.
 */
export function meetsConditions(hook: Hook, attributes: AdmissionAttributes, review: JsonObject): boolean {
  const conditions = conditionsOf(hook)
  if (conditions.length === 0) return true
  const { object = null, oldObject = null, ...request } = review.request as JsonObject
  const failures: string[] = []
  for (const [index, condition] of conditions.entries())
    try {
      if (!condition.holds({ object, oldObject, request })) return false
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error
      const { expression } = hook.matchConditions![index]!
      failures.push(`expression '${expression}' resulted in error: ${error.message}`)
    }
  if (failures.length === 0) return true
  if (hook.failurePolicy === 'Ignore') return false
  throw rejection(attributes, failures)
}

function rejection({ resource, name }: AdmissionAttributes, failures: readonly string[]): ApiError {
  const text = failures.length === 1 ? failures[0]! : `[${failures.join(', ')}]`
  return apiError.forbidden(resource, name, text)
}
