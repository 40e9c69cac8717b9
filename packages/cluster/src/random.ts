// SPDX-License-Identifier: Apache-2.0

import { randomInt } from 'node:crypto'

/** The source of UIDs and generated names. Tests and simulations seed it, so that a run can be repeated. */
export interface Random {
  /** Returns an integer from 0 to `below` - 1. */
  integer(below: number): number
}

export const systemRandom: Random = { integer: below => randomInt(below) }

/** Returns the same sequence for the same seed (sfc32). Not for secrets. */
export function seededRandom(seed: number): Random {
  let a = seed >>> 0
  let b = 0x9e3779b9
  let c = 0x243f6a88
  let counter = 1
  const next = () => {
    const result = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + result
    c |= 0
    return result >>> 0
  }
  // Similar seeds give similar numbers in the first rounds.
  for (let round = 0; round < 12; round++) next()
  return { integer: below => Math.floor((next() / 0x1_0000_0000) * below) }
}

export function randomUid(random: Random): string {
  let hex = ''
  for (let i = 0; i < 8; i++) hex += random.integer(0x10000).toString(16).padStart(4, '0')
  const variant = '89ab'[random.integer(4)]!
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** The alphabet of Kubernetes: no vowels and no similar characters, so that names do not spell anything. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export function randomSuffix(random: Random, length = 5): string {
  let text = ''
  for (let i = 0; i < length; i++) text += suffixAlphabet[random.integer(suffixAlphabet.length)]
  return text
}
