// SPDX-License-Identifier: Apache-2.0
import { validateRules } from '../cel/validate-rules.ts'
import { type FieldError, fieldError } from '../field-error.ts'
import { MAX_JSON_DEPTH, nestedDeeperThan } from '../json-value.ts'
import type { Outcome } from './alternatives.ts'
import type { CompiledSchema } from './compile.ts'
import { UNCORRELATED } from './correlation.ts'
import { validateEmbeddedResources } from './embedded-resources.ts'
import { validateKeyedLists } from './keyed-lists.ts'
import { validateValue } from './value-validation.ts'

/** Errors of other validations of the same object, in the order of the API server. */
export interface SurroundingErrors {
  /** Metadata errors, before all others. */
  readonly metadata?: readonly FieldError[]
  /** Errors of the scale paths, after the schema and before lists and rules. */
  readonly scale?: readonly FieldError[]
}

/**
 * Validates an object against a schema, with the errors of the API server in its order: values, embedded
 * resources, keyed lists, CEL rules. Rules are not evaluated on an object with a wrong shape; an error
 * reports this. With `old` it validates an update: unchanged invalid values are tolerated, and transition
 * rules apply. Never throws. An object nested deeper than MAX_JSON_DEPTH is rejected as a whole.
 */
export function validate(
  schema: CompiledSchema,
  value: unknown,
  old?: unknown,
  around: SurroundingErrors = {},
): FieldError[] {
  if (nestedDeeperThan(value, MAX_JSON_DEPTH)) return [tooDeep]
  const { root } = schema
  const isUpdate = old !== undefined && !nestedDeeperThan(old, MAX_JSON_DEPTH)
  const stored = isUpdate ? old : UNCORRELATED

  const outcome: Outcome = { errors: [], passed: 0 }
  validateValue(root, value, { path: undefined, old: stored }, outcome)
  const errors = [...(around.metadata ?? []), ...withoutRepetition(outcome.errors), ...(around.scale ?? [])]
  validateEmbeddedResources(root, value, undefined, errors)
  if (!(isUpdate && hasRepeatedKeys(schema, old))) validateKeyedLists(root, value, undefined, errors)

  if (root.holds.rules) {
    if (errors.some(preventsRules)) errors.push(rulesNotChecked)
    else validateRules(root, value, stored, errors)
  }
  return errors
}

/** Stored duplicates in keyed lists must not block every later update. */
function hasRepeatedKeys(schema: CompiledSchema, old: unknown): boolean {
  const errors: FieldError[] = []
  validateKeyedLists(schema.root, old, undefined, errors)
  return errors.length > 0
}

/** Reports whether an error means that the shape is too wrong to evaluate rules. */
function preventsRules(error: FieldError): boolean {
  switch (error.kind) {
    case 'Required value':
    case 'Unsupported value':
    case 'Too long':
    case 'Too many':
      return true
    default:
      return error.wrongType ?? false
  }
}

const rulesNotChecked = fieldError.invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

const tooDeep: FieldError = {
  kind: 'Invalid value',
  field: '<nil>',
  detail: `the object is nested deeper than ${MAX_JSON_DEPTH} levels`,
  valueOmitted: true,
}

/** Alternatives such as anyOf may find the same error several times. */
function withoutRepetition(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length < 2) return errors
  const seen = new Set<string>()
  return errors.filter(({ field, kind, detail }) => {
    const key = `${field}\n${kind}\n${detail}`
    return !seen.has(key) && seen.add(key)
  })
}
