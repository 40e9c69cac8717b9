// SPDX-License-Identifier: Apache-2.0

import { cut } from '../long-texts.ts'

/** A value that cannot be decoded as its declared type. */
export interface Problem {
  /** From the value outwards: every container appends its own segment on the way back. */
  readonly path: (string | number)[]
  readonly text: string
}

/** A limit, because a hostile document could cause one problem per value. */
export const maximumProblems = 20
/** Limit for a path or a message of a problem, in characters: both repeat content of the document. */
export const maximumLength = 1000

/** The path of a problem, such as `spec.template.cliques[0].name`. */
export function fieldOf(path: Problem['path']): string {
  let field = ''
  for (const segment of [...path].reverse()) {
    if (typeof segment === 'number') field += `[${segment}]`
    else field += field === '' ? segment : `.${segment}`
  }
  return cut(field, maximumLength)
}

/** The type of a JSON value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return 'a string'
    case 'number':
    case 'bigint':
      return Number.isInteger(Number(value)) ? 'an integer' : 'a number'
    case 'boolean':
      return 'a boolean'
    default:
      return 'an object'
  }
}
