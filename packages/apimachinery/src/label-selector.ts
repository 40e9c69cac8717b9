// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError, renderFieldError, renderFieldErrors } from './field-error.ts'
import { labelValue, qualifiedName } from './names.ts'
import { quote } from './quote.ts'

export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'GreaterThan' | 'LessThan'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

/** All requirements must match. An empty selector matches everything. */
export type LabelSelector = readonly LabelRequirement[]

/** Matches no labels: the meaning of an absent LabelSelector object. */
const NOTHING: LabelSelector = [{ key: '', operator: 'In', values: [] }]

export type LabelSelectorResult =
  | { readonly ok: true; readonly selector: LabelSelector }
  | { readonly ok: false; readonly error: string }

/** A `LabelSelector` in an object. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

/** Parses the format of query parameters and `kubectl -l`: `app=x,tier in (a,b),!canary,size>3`. */
export function parseLabelSelector(text: string): LabelSelectorResult {
  try {
    const selector = new Parser(text).selector()
    return { ok: true, selector: selector.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) }
  } catch (error) {
    if (error instanceof SelectorError) return { ok: false, error: error.message }
    throw error
  }
}

/** An absent selector matches nothing, an empty one everything. */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelectorResult {
  if (object === null || object === undefined) return { ok: true, selector: NOTHING }
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(object.matchLabels ?? {})) {
    requirements.push({ key, operator: 'In', values: [value] })
  }
  for (const { key, operator, values = [] } of object.matchExpressions ?? []) {
    if (!isObjectOperator(operator)) {
      return { ok: false, error: `${quote(operator)} is not a valid label selector operator` }
    }
    requirements.push({ key, operator, values })
  }
  for (const requirement of requirements) {
    const errors = validateRequirement(requirement)
    if (errors.length > 0) return { ok: false, error: renderFieldErrors(errors) }
  }
  return { ok: true, selector: requirements }
}

function isObjectOperator(operator: string): operator is LabelOperator {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator)
}

export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every(requirement => {
    const value = labels && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
    return meets(value, requirement)
  })
}

function meets(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default: {
      const left = value === undefined ? undefined : integer(value)
      const right = integer(values[0] ?? '')
      if (left === undefined || right === undefined) return false
      return operator === 'GreaterThan' ? left > right : left < right
    }
  }
}

function integer(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return value === BigInt.asIntN(64, value) ? value : undefined
}

function validateRequirement({ key, operator, values }: LabelRequirement): FieldError[] {
  const errors: FieldError[] = []
  const keyProblems = qualifiedName(key)
  if (keyProblems.length > 0) errors.push(fieldError.invalid('key', key, keyProblems.join('; ')))
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    errors.push(
      fieldError.invalid('values', values, "for 'in', 'notin' operators, values set can't be empty"),
    )
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    errors.push(
      fieldError.invalid('values', values, 'values set must be empty for exists and does not exist'),
    )
  }
  for (const [index, value] of values.entries()) {
    if ((operator === 'GreaterThan' || operator === 'LessThan') && integer(value) === undefined) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer"
      errors.push(fieldError.invalid(`values[${index}]`, value, detail))
    }
    const problems = labelValue(value)
    if (problems.length > 0) {
      errors.push(fieldError.invalid(`values[${index}][${key}]`, value, problems.join('; ')))
    }
  }
  return errors
}

class SelectorError extends Error {}

const operators: Readonly<Record<string, LabelOperator>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'GreaterThan',
  '<': 'LessThan',
}

/** A token, or '' at the end of the text. */
type Token = string

class Parser {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g) ?? []
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    if (this.#peek() === '') return requirements
    if (!this.#startsRequirement()) {
      throw new SelectorError(`found '${this.#peek()}', expected: !, identifier, or 'end of string'`)
    }
    while (true) {
      requirements.push(this.#requirement())
      const separator = this.#next()
      if (separator === '') return requirements
      if (separator !== ',') throw new SelectorError(`found '${separator}', expected: ',' or 'end of string'`)
      if (!this.#startsRequirement()) {
        throw new SelectorError(`found '${this.#peek()}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      const requirement = this.#readRequirement()
      const errors = validateRequirement(requirement)
      if (errors.length > 0) throw new SelectorError(renderFieldErrors(errors))
      return requirement
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      throw new SelectorError(`unable to parse requirement: ${error.message}`)
    }
  }

  #readRequirement(): LabelRequirement {
    const negated = this.#peek() === '!'
    if (negated) this.#next()
    const key = this.#identifier()
    const problems = qualifiedName(key)
    if (problems.length > 0) {
      throw new SelectorError(renderFieldError(fieldError.invalid('<nil>', key, problems.join('; '))))
    }
    if (negated) return { key, operator: 'DoesNotExist', values: [] }
    if (this.#peek() === '' || this.#peek() === ',') return { key, operator: 'Exists', values: [] }
    const symbol = this.#next()
    const operator = Object.hasOwn(operators, symbol) ? operators[symbol] : undefined
    if (operator === undefined) {
      throw new SelectorError(`found '${symbol}', expected: in, notin, =, ==, !=, gt, lt`)
    }
    const isSet = symbol === 'in' || symbol === 'notin'
    return { key, operator, values: isSet ? this.#values() : [this.#exactValue()] }
  }

  #exactValue(): string {
    return this.#peek() === '' || this.#peek() === ',' ? '' : this.#identifier()
  }

  /** `(a,,b)`: missing values are empty. */
  #values(): string[] {
    const open = this.#next()
    if (open !== '(') throw new SelectorError(`found '${open}' expected: '('`)
    const values = new Set<string>()
    if (this.#peek() === '') throw new SelectorError("found '', expected: ',', ')' or identifier")
    while (true) {
      values.add(isIdentifier(this.#peek()) ? this.#next() : '')
      const separator = this.#next()
      if (separator === ')') return [...values].sort()
      if (separator !== ',') throw new SelectorError(`found '${separator}', expected: ',' or ')'`)
    }
  }

  #identifier(): string {
    const token = this.#next()
    if (!isIdentifier(token)) throw new SelectorError(`found '${token}', expected: identifier`)
    return token
  }

  #startsRequirement(): boolean {
    return this.#peek() === '!' || isIdentifier(this.#peek())
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? ''
  }

  #next(): Token {
    return this.#tokens[this.#position++] ?? ''
  }
}

function isIdentifier(token: Token): boolean {
  return token !== '' && !/^[=!(),<>]/.test(token)
}
