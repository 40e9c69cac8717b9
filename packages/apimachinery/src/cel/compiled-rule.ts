// SPDX-License-Identifier: Apache-2.0
import type { ValidationRule } from '../structural-schema/json-schema-props.ts'

/** The variables of a rule as CEL values. `oldSelf` is missing if no stored value correlates. */
export interface RuleVariables {
  readonly self: unknown
  readonly oldSelf?: unknown
}

/** The result of a rule. An evaluation error is reported like a violation. */
export type Verdict =
  | { readonly holds: true }
  | { readonly holds: false }
  | { readonly holds: undefined; readonly failure: string }

/** A rule of a schema, compiled once. */
export interface CompiledRule {
  readonly source: ValidationRule
  /** A transition rule compares with the stored value and is skipped without one. */
  readonly usesOldSelf: boolean
  /** `oldSelf` is an optional: the rule is also evaluated without a stored value. */
  readonly optionalOldSelf: boolean
  /** `spec.template.cliques`, relative to the rule; empty for the location of the rule itself. */
  readonly fieldPath: string
  /** Why the rule cannot be evaluated. */
  readonly compileError: string | undefined
  readonly evaluate: (variables: RuleVariables) => Verdict
  /** Evaluates `messageExpression`. Returns undefined if there is none or its result is not usable. */
  readonly explain: (variables: RuleVariables) => string | undefined
}
