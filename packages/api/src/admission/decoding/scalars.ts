// SPDX-License-Identifier: Apache-2.0

import { formatQuantity, parseDuration, QuantityError, readQuantity } from '@grove/apimachinery'
import type { Decoder } from './decoder.ts'
import { kindOf, type Problem } from './problem.ts'

/** Reports a problem. Callers never use the returned value. */
export function reject(problems: Problem[], text: string): undefined {
  problems.push({ path: [], text })
  return undefined
}

function scalar(type: 'string' | 'boolean', wanted: string, empty: unknown): Decoder {
  return {
    empty: () => empty,
    decode: (value, problems) =>
      typeof value === type ? value : reject(problems, `must be ${wanted}, not ${kindOf(value)}`),
  }
}

export const text = scalar('string', 'a string', '')

export const boolean = scalar('boolean', 'true or false', false)

export const number: Decoder = {
  empty: () => 0,
  decode: (value, problems) =>
    typeof value === 'number' ? value : reject(problems, `must be a number, not ${kindOf(value)}`),
}

export function integer(bits: 32 | 64): Decoder {
  const limit = 2 ** (bits - 1)
  return {
    empty: () => 0,
    decode(value, problems) {
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        return reject(
          problems,
          `must be an integer, not ${typeof value === 'number' ? value : kindOf(value)}`,
        )
      }
      if (value < -limit || value >= limit) return reject(problems, `${value} does not fit into ${bits} bits`)
      return value
    },
  }
}

const int32 = integer(32)

/** A port or a percentage: a 32-bit integer, or any string. */
export const intOrString: Decoder = {
  empty: () => 0,
  decode: (value, problems) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number'
        ? int32.decode(value, problems)
        : reject(problems, `must be an integer or a string, not ${kindOf(value)}`),
}

/** Normalizes valid quantities that do not match the pattern of the schema (`0.5` as a number). */
export function quantity(pattern: string): Decoder {
  const expression = new RegExp(pattern)
  return {
    empty: () => '0',
    decode(value, problems) {
      if (typeof value !== 'string' && typeof value !== 'number') {
        return reject(problems, `must be a quantity such as 500m or 2Gi, not ${kindOf(value)}`)
      }
      const read = readQuantity(value)
      if (read instanceof QuantityError) return reject(problems, read.message)
      const isWellFormed = typeof value === 'string' ? expression.test(value) : Number.isSafeInteger(value)
      return isWellFormed ? value : formatQuantity(read)
    },
  }
}

export const duration: Decoder = {
  empty: () => '0s',
  decode(value, problems) {
    if (typeof value !== 'string') {
      return reject(problems, `must be a duration such as 30s or 4h, not ${kindOf(value)}`)
    }
    const parsed = parseDuration(value)
    return parsed.ok ? value : reject(problems, parsed.error)
  },
}
