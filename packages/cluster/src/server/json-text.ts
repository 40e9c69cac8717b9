// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, MAX_JSON_DEPTH, nestedDeeperThan, setOwn } from '@grove/apimachinery'
import { jsonSyntaxError } from './json-syntax.ts'

/** The text is not JSON. The message is the message of Go's parser. */
export class JsonTextError extends Error {}

/**
 * Like JSON.parse, with two differences that clients can see: Go's error messages, and replacement of lone
 * surrogates.
 */
export function readJsonText(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new JsonTextError(jsonSyntaxError(Buffer.from(text)) ?? (error as Error).message)
  }
  if (nestedDeeperThan(value, MAX_JSON_DEPTH)) throw new JsonTextError(jsonSyntaxError(Buffer.from(text)))
  return halfCharacter.test(text) ? wellFormed(value) : value
}

/** Only an escape sequence can produce a lone surrogate. UTF-8 cannot. */
const halfCharacter = /\\u[dD][89a-fA-F]/

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isJsonObject(value)) return value
  const copy: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) setOwn(copy, key.toWellFormed(), wellFormed(inner))
  return copy
}

/** Returns Go's name for the type of a JSON value. */
export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
