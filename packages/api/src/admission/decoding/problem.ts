// SPDX-License-Identifier: Apache-2.0

/** A value that cannot be read as what the API declares. */
export interface Problem {
  /** From the value outwards: every container appends its own segment on the way back. */
  readonly path: (string | number)[]
  readonly text: string
}

/** More would help nobody, and a hostile document could make as many as it has values. */
export const maximumProblems = 20

export function describeProblem({ path, text }: Problem): string {
  let field = ''
  for (const segment of [...path].reverse()) {
    if (typeof segment === 'number') field += `[${segment}]`
    else field += field === '' ? segment : `.${segment}`
  }
  const shown = field.length > 1000 ? `${field.slice(0, 1000)}…` : field
  return `${shown || 'the object'}: ${text}`
}

/** What a JSON value is, in words. */
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
