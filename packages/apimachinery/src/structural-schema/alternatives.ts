// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from '../field-error.ts'
import { dottedPath, type FieldPath } from '../field-path.ts'
import { quote } from '../quote.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Errors, and the number of passed checks. If all alternatives fail (anyOf, oneOf), the API server reports
 * the one with the most passed checks.
 */
export interface Outcome {
  readonly errors: FieldError[]
  passed: number
}

/** Validates anyOf, oneOf, allOf and not. `attempt` validates the value against one schema. */
export function checkAlternatives(
  node: SchemaNode,
  path: FieldPath | undefined,
  out: Outcome,
  attempt: (schema: SchemaNode) => Outcome,
): void {
  // The API server reports these without a field, because the message contains it.
  const complain = (complaint: string) =>
    out.errors.push(fieldError.invalid('<nil>', '', `${quote(dottedPath(path))} ${complaint}`))
  if (node.anyOf.length > 0) {
    const outcome = firstSuccessOrBestFailure(node.anyOf, attempt)
    if (outcome.errors.length > 0) complain('must validate at least one schema (anyOf)')
    merge(outcome, out)
  }
  if (node.oneOf.length > 0) {
    const outcomes = node.oneOf.map(attempt)
    const successes = outcomes.filter(outcome => outcome.errors.length === 0)
    if (successes.length === 1) merge(successes[0]!, out)
    else {
      const found =
        successes.length === 0 ? 'Found none valid' : `Found ${successes.length} valid alternatives`
      complain(`must validate one and only one schema (oneOf). ${found}`)
      if (successes.length === 0) merge(best(outcomes), out)
    }
  }
  if (node.allOf.length > 0) {
    const outcomes = node.allOf.map(attempt)
    for (const outcome of outcomes) merge(outcome, out)
    const failed = outcomes.filter(outcome => outcome.errors.length > 0).length
    if (failed > 0) {
      complain(`must validate all the schemas (allOf)${failed === outcomes.length ? '. None validated' : ''}`)
    }
  }
  if (node.not && attempt(node.not).errors.length === 0) complain('must not validate the schema (not)')
}

function firstSuccessOrBestFailure(
  schemas: readonly SchemaNode[],
  attempt: (schema: SchemaNode) => Outcome,
): Outcome {
  const failures: Outcome[] = []
  for (const schema of schemas) {
    const outcome = attempt(schema)
    if (outcome.errors.length === 0) return outcome
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
