// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from './object.ts'

/** What the API server itself appends: five of the characters that form no words and look like no others. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const longestName = 63

/** Tries with another name when one is taken, as the API server does. */
export const generatedNameAttempts = 8

/** A name as the API server would make it from `generateName`. */
export function generateName(prefix: string, random: () => number): string {
  let name = prefix.slice(0, longestName - suffixLength)
  for (let i = 0; i < suffixLength; i++) name += alphabet[Math.floor(random() * alphabet.length)]
  return name
}

/** Whether an object leaves its name to be made. */
export function wantsGeneratedName(object: KubeObject): boolean {
  return Boolean(object.metadata?.generateName) && !object.metadata?.name
}

export function withGeneratedName<T extends KubeObject>(object: T, random: () => number): T {
  const name = generateName(object.metadata?.generateName ?? '', random)
  return { ...object, metadata: { ...object.metadata, name } }
}
