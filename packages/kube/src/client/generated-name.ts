// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from './object.ts'

/** The alphabet of the API server's own suffixes: no vowels, no characters that look alike. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxNameLength = 63

/** Attempts with different names, as in the API server. */
export const generatedNameAttempts = 8

/** Creates a name from `generateName` as the API server would. */
function generateName(prefix: string, random: () => number): string {
  let name = prefix.slice(0, maxNameLength - suffixLength)
  for (let i = 0; i < suffixLength; i++) name += alphabet[Math.floor(random() * alphabet.length)]
  return name
}

/** Reports whether an object relies on `generateName`. */
export function wantsGeneratedName(object: KubeObject): boolean {
  return Boolean(object.metadata?.generateName) && !object.metadata?.name
}

export function withGeneratedName<T extends KubeObject>(object: T, random: () => number): T {
  const name = generateName(object.metadata?.generateName ?? '', random)
  return { ...object, metadata: { ...object.metadata, name } }
}
