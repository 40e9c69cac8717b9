// SPDX-License-Identifier: Apache-2.0

import { formatQuantity, parseDuration, QuantityError, readQuantity } from '@grove/apimachinery'
import type { Decoder } from './decoder.ts'
import { kindOf, type Problem } from './problem.ts'

/** Reports what is wrong; the value returned is never looked at. */
export function refuse(problems: Problem[], text: string): undefined {
  problems.push({ path: [], text })
  return undefined
}

function scalar(type: 'string' | 'boolean', wanted: string, empty: unknown): Decoder {
  return {
    empty: () => empty,
    decode: (value, problems) =>
      typeof value === type ? value : refuse(problems, `must be ${wanted}, not ${kindOf(value)}`),
  }
}

export const text = scalar('string', 'a string', '')

export const boolean = scalar('boolean', 'true or false', false)

export const number: Decoder = {
  empty: () => 0,
  decode: (value, problems) =>
    typeof value === 'number' ? value : refuse(problems, `must be a number, not ${kindOf(value)}`),
}

export function integer(bits: 32 | 64): Decoder {
  const limit = 2 ** (bits - 1)
  return {
    empty: () => 0,
    decode(value, problems) {
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        return refuse(
          problems,
          `must be an integer, not ${typeof value === 'number' ? value : kindOf(value)}`,
        )
      }
      if (value < -limit || value >= limit) return refuse(problems, `${value} does not fit into ${bits} bits`)
      return value
    },
  }
}

const int32 = integer(32)

/** A port or a percentage: a 32-bit number, or any text. */
export const intOrString: Decoder = {
  empty: () => 0,
  decode: (value, problems) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number'
        ? int32.decode(value, problems)
        : refuse(problems, `must be an integer or a string, not ${kindOf(value)}`),
}

/** What can be read as a quantity but is not written as the schema demands (`0.5` as a number) is rewritten. */
export function quantity(pattern: string): Decoder {
  const expression = new RegExp(pattern)
  return {
    empty: () => '0',
    decode(value, problems) {
      if (typeof value !== 'string' && typeof value !== 'number') {
        return refuse(problems, `must be a quantity such as 500m or 2Gi, not ${kindOf(value)}`)
      }
      const read = readQuantity(value)
      if (read instanceof QuantityError) return refuse(problems, read.message)
      const isWellFormed = typeof value === 'string' ? expression.test(value) : Number.isSafeInteger(value)
      return isWellFormed ? value : formatQuantity(read)
    },
  }
}

export const duration: Decoder = {
  empty: () => '0s',
  decode(value, problems) {
    if (typeof value !== 'string') {
      return refuse(problems, `must be a duration such as 30s or 4h, not ${kindOf(value)}`)
    }
    const parsed = parseDuration(value)
    return parsed.ok ? value : refuse(problems, parsed.error)
  },
}
