// SPDX-License-Identifier: Apache-2.0
import type { ValidationRule } from '../structural-schema/json-schema-props.ts'

/** The variables of a rule, as CEL values; `oldSelf` is missing where no stored value corresponds. */
export interface RuleVariables {
  readonly self: unknown
  readonly oldSelf?: unknown
}

/** What a rule says. A failure to evaluate is an answer too: it is reported like a violation. */
export type Verdict =
  | { readonly holds: true }
  | { readonly holds: false }
  | { readonly holds: undefined; readonly failure: string }

/** A rule of a schema, parsed and checked once. */
export interface CompiledRule {
  readonly source: ValidationRule
  /** A transition rule compares with the stored value, and is skipped where there is none. */
  readonly usesOldSelf: boolean
  /** `oldSelf` is an optional: the rule is evaluated without a stored value too. */
  readonly optionalOldSelf: boolean
  /** `spec.template.cliques`, relative to the place of the rule; empty: the place itself. */
  readonly fieldPath: string
  /** Why the rule cannot be evaluated at all. */
  readonly compileError: string | undefined
  readonly evaluate: (variables: RuleVariables) => Verdict
  /** What `messageExpression` says, if there is one and it evaluates to a usable text. */
  readonly explain: (variables: RuleVariables) => string | undefined
}
