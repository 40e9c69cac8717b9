// SPDX-License-Identifier: Apache-2.0

// Evaluates JSONPath templates on objects, and formats the values as kubectl does.
import { CommandError } from '../command-error.ts'
import type { Filter, Path, Slice, Step, TemplatePart } from './json-path.ts'

/** The values of each part of the template, in order. */
export function evaluateTemplate(parts: readonly TemplatePart[], data: unknown): unknown[][] {
  return evaluateParts(parts, data, false)
}

function evaluateParts(parts: readonly TemplatePart[], data: unknown, isInRange: boolean): unknown[][] {
  const results: unknown[][] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const word = wordOf(part)
    if (word === 'end') {
      if (!isInRange) throw new CommandError('{end} without {range}')
      return results
    }
    if (word !== 'range') {
      results.push('text' in part ? [part.text] : evaluatePath(part.path, [data]))
      continue
    }
    const rest = parts.slice(at + 1)
    const [, ...path] = (part as { path: Path }).path
    for (const value of evaluatePath(path, [data])) results.push(...evaluateParts(rest, value, true))
    // Without {end} the range reaches to the end of the template, which is then evaluated once more, as in kubectl.
    at += endOfRange(rest)
  }
  return results
}

/** The number of parts up to the {end} of a range that has begun before them, or 0. */
function endOfRange(parts: readonly TemplatePart[]): number {
  let open = 1
  const end = parts.findIndex(part => {
    const word = wordOf(part)
    if (word === 'range') open++
    if (word === 'end') open--
    return open === 0
  })
  return end + 1
}

function wordOf(part: TemplatePart): string | undefined {
  const first = 'path' in part ? part.path[0] : undefined
  return first?.kind === 'word' ? first.word : undefined
}

export function evaluatePath(path: Path, values: readonly unknown[]): unknown[] {
  return path.reduce<unknown[]>((current, step) => evaluateStep(step, current), [...values])
}

function evaluateStep(step: Step, values: unknown[]): unknown[] {
  switch (step.kind) {
    case 'field':
      return values.flatMap(value =>
        isMap(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [],
      )
    case 'constant':
      // Text ignores the current values; numbers and booleans replace each of them.
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    case 'slice':
      return values.flatMap(value => sliced(value, step.slice))
    case 'filter':
      return values.flatMap(value => filtered(value, step.filter))
    case 'union':
      return step.members.flatMap(member => evaluatePath(member, values))
    case 'wildcard':
      return values.flatMap(childrenOf)
    case 'descendants':
      return values.flatMap(withDescendants)
    case 'word':
      throw new CommandError(
        `unrecognized identifier ${step.word}; a field begins with a dot, and {range} and {end} stand in braces of their own`,
      )
  }
}

function sliced(value: unknown, { start, end, step, isIndex }: Slice): unknown[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw new CommandError(`[…] requires a list, not ${typeName(value)}`)
  const { length } = value
  const from = start < 0 ? start + length : start
  const to = end === undefined ? length : end < 0 || (end === 0 && isIndex) ? end + length : end
  if (from === to) return []
  if (from < 0 || from >= length) throw outOfBounds(from, length)
  if (to < 0 || to > length) throw outOfBounds(to - 1, length)
  if (from > to) throw new CommandError(`starting index ${from} is greater than ending index ${to}`)
  if (step !== undefined && step <= 0) throw new CommandError('step must be > 0')
  return value.slice(from, to).filter((_, at) => at % (step ?? 1) === 0)
}

function outOfBounds(index: number, length: number): CommandError {
  return new CommandError(`array index out of bounds: index ${index}, length ${length}`, 1)
}

function filtered(value: unknown, { left, comparison }: Filter): unknown[] {
  if (!Array.isArray(value)) throw new CommandError(`[?(…)] requires a list, not ${typeName(value)}`)
  return value.filter(element => {
    if (!comparison) return exists(left, element)
    const lefts = evaluatePath(left, [element])
    const rights = evaluatePath(comparison.right, [element])
    if (lefts.length > 1 || rights.length > 1)
      throw new CommandError('a filter can only compare one value with one value')
    return lefts.length === 1 && rights.length === 1 && compared(lefts[0], comparison.operator, rights[0])
  })
}

/** An element of a list that is too short does not exist. */
function exists(path: Path, value: unknown): boolean {
  try {
    return evaluatePath(path, [value]).length > 0
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}

function compared(left: unknown, operator: string, right: unknown): boolean {
  const kind = basicKind(left)
  if (kind !== basicKind(right))
    throw new CommandError(`incompatible types for comparison: ${typeName(left)} and ${typeName(right)}`)
  // Both have the same type.
  const [a, b] = [left as string, right as string]
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (kind === 'boolean') throw new CommandError('booleans can only be compared with == and !=')
  if (operator === '<') return a < b
  if (operator === '>') return a > b
  if (operator === '<=') return a <= b
  if (operator === '>=') return a >= b
  throw new CommandError(`unrecognized filter operator ${operator}; use ==, !=, <, <=, > or >=`)
}

/** Integers and other numbers are different types, because they are in Kubernetes. */
function basicKind(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  throw new CommandError(`invalid type for comparison: ${typeName(value)}`)
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A string consists of its bytes, as in Go. */
function childrenOf(value: unknown): unknown[] {
  if (typeof value === 'string') return [...Buffer.from(value)]
  if (Array.isArray(value)) return value
  return isMap(value) ? Object.values(value) : []
}

/** The value, if it has children, and all of its descendants that have some. */
function withDescendants(value: unknown): unknown[] {
  const children = childrenOf(value)
  if (children.length === 0) return []
  return typeof value === 'string' ? [value] : [value, ...children.flatMap(withDescendants)]
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of a template: values are separated by spaces, and objects and lists are JSON. */
export function templateText(results: readonly (readonly unknown[])[]): string {
  return results.map(values => values.map(valueText).join(' ')).join('')
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'object') return goJson(value)
  return typeof value === 'number' ? numberText(value) : String(value)
}

/** The results of `jsonpath-as-json`: one list for each part of the template. */
export function templateJson(results: readonly (readonly unknown[])[]): string {
  return results.map(values => `${goJson(values, 4)}\n`).join('')
}

/** JSON as the encoder of Go writes it: keys are sorted, and characters with a meaning in HTML are escaped. */
function goJson(value: unknown, indent?: number): string {
  return JSON.stringify(sortedKeys(value), null, indent).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (!isMap(value)) return value
  return Object.fromEntries(entriesOf(value).map(([key, field]) => [key, sortedKeys(field)]))
}

/** A value in a custom column, which kubectl prints with the default format of Go. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (isMap(value))
    return `map[${entriesOf(value)
      .map(([key, field]) => `${key}:${goText(field)}`)
      .join(' ')}]`
  return typeof value === 'number' ? numberText(value) : String(value)
}

function entriesOf(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Go prints small and large numbers with an exponent of at least two digits. */
function numberText(value: number): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}
