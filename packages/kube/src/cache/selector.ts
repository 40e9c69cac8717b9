// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../client/index.ts'

/** Reports whether an object matches, with the result that the server would have. */
export type Matcher = (object: KubeObject) => boolean

type Labels = Readonly<Record<string, string>>

/**
 * Parses a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas. Throws
 * a TypeError if the server would reject the selector.
 */
export function labelMatcher(selector: string): Matcher {
  const rules = splitTopLevel(selector).map(labelRule)
  return object => {
    const labels = object.metadata?.labels ?? {}
    return rules.every(rule => rule(labels))
  }
}

/**
 * Parses a field selector: `path=value`, `path==value`, `path!=value`, joined by commas. A missing field is the empty
 * string, as on the server.
 */
export function fieldMatcher(selector: string): Matcher {
  const rules = selector
    .split(',')
    .filter(part => part !== '')
    .map(part => {
      const match = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part)
      if (!match) throw new TypeError(`invalid field selector: ${part}`)
      const [, path = '', operator, value] = match
      const steps = path.split('.')
      return (object: KubeObject) => (fieldOf(object, steps) === value) === (operator !== '!=')
    })
  return object => rules.every(rule => rule(object))
}

function fieldOf(object: unknown, steps: readonly string[]): string {
  let value = object
  for (const step of steps) value = (value as Record<string, unknown> | undefined | null)?.[step]
  return value === undefined || value === null ? '' : String(value)
}

/** Commas separate requirements, except inside the parentheses of a set. */
function splitTopLevel(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map(part => part.trim())
    .filter(part => part !== '')
}

function labelRule(text: string): (labels: Labels) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text)
  if (set) {
    const [, key = '', operator, list = ''] = set
    const values = new Set(list.split(',').map(value => value.trim()))
    if (operator === 'in') return labels => Object.hasOwn(labels, key) && values.has(labels[key]!)
    return labels => !Object.hasOwn(labels, key) || !values.has(labels[key]!)
  }
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(text)
  if (equality) {
    const [, key = '', operator, value] = equality
    if (operator === '!=') return labels => labels[key] !== value
    return labels => labels[key] === value
  }
  const existence = /^(!?)\s*([^\s=!()]+)$/.exec(text)
  if (!existence) throw new TypeError(`invalid label selector: ${text}`)
  const [, not, key = ''] = existence
  return labels => Object.hasOwn(labels, key) === (not === '')
}
