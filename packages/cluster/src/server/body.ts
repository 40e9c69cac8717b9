// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, MAX_JSON_DEPTH, nestedDeeperThan } from '@grove/apimachinery'
import { parse as parseYaml } from 'yaml'
import { decodeMessage, openEnvelope, ProtobufError } from '../schema/protobuf.ts'
import type { StructType } from '../schema/type-table.ts'
import type { ApiRequest } from './request.ts'
import { refuse } from './status.ts'
import { findStrictErrors } from './strict-errors.ts'

const protobufType = 'application/vnd.kubernetes.protobuf'
const bodyTypes = ['application/json', 'application/yaml', protobufType]

/** As the API server: three megabytes. */
export const maximumBodyBytes = 3 * 1024 * 1024

export interface ParsedBody {
  readonly value: JsonObject
  /** What a strict reader objects to, given the fields that the type does not have. */
  readonly strictErrors: (unknownFields: readonly string[]) => string[]
}

/** For texts in which nothing can appear twice. */
export function unknownOnly(unknownFields: readonly string[]): string[] {
  return unknownFields.map(field => `unknown field "${field}"`)
}

export function bodyText(request: ApiRequest): string {
  const { body } = request
  if (body === undefined) return ''
  if (body.length > maximumBodyBytes) throw refuse.tooLarge(maximumBodyBytes)
  return typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';')[0]!.trim().toLowerCase()
}

/** The body of a create or update: JSON or YAML, one object. */
/** `struct` is its type where protobuf is understood too. */
export function parseBody(request: ApiRequest, kind: string, struct?: StructType): ParsedBody {
  const type = mediaTypeOf(request.headers['content-type']) || 'application/json'
  if (type === protobufType && struct)
    return { value: parseProtobuf(request, struct), strictErrors: unknownOnly }
  if (type !== 'application/json' && type !== 'application/yaml' && type !== 'application/x-yaml')
    throw refuse.unsupportedMediaType(bodyTypes)
  const text = bodyText(request)
  const value = type === 'application/json' ? parseJson(text, kind) : parseYamlBody(text, kind)
  const errors =
    type === 'application/json'
      ? (unknown: readonly string[]) => findStrictErrors(text, unknown)
      : unknownOnly
  return { value, strictErrors: errors }
}

function parseProtobuf({ body }: ApiRequest, struct: StructType): JsonObject {
  if (body === undefined || typeof body === 'string')
    throw refuse.badRequest('the body of the request is not protobuf')
  if (body.length > maximumBodyBytes) throw refuse.tooLarge(maximumBodyBytes)
  try {
    const { apiVersion, kind, raw } = openEnvelope(body)
    return { ...decodeMessage(struct, raw), ...(apiVersion && { apiVersion }), ...(kind && { kind }) }
  } catch (error) {
    if (error instanceof ProtobufError) throw refuse.badRequest(error.message)
    throw error
  }
}

function unrecognized(kind: string, why: string, text: string) {
  const shown = text === '' ? '<empty>' : Buffer.byteLength(text) > 1024 ? '<too long>' : printable(text)
  return refuse.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${shown})`,
  )
}

/** The server shows what it could not read: as text when it starts like JSON, else in hexadecimal. */
function printable(text: string): string {
  return text.startsWith('{') ? text : Buffer.from(text).toString('hex')
}

const typeMetaStruct =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function parseJson(text: string, kind: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unrecognized(kind, goSyntaxError(text, error), text)
  }
  return asObject(value, text, kind)
}

function parseYamlBody(text: string, kind: string): JsonObject {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw refuse.badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${(error as Error).message.split('\n')[0]}`,
    )
  }
  return asObject(value, text, kind)
}

function asObject(value: unknown, text: string, kind: string): JsonObject {
  if (!isJsonObject(value)) {
    const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    if (value === null) return {}
    throw unrecognized(kind, `json: cannot unmarshal ${found} into ${typeMetaStruct}`, text)
  }
  if (nestedDeeperThan(value, MAX_JSON_DEPTH)) throw refuse.badRequest('json: exceeded max depth')
  return value
}

/** Go's words for the two mistakes that people make: a text cut short and a character that cannot be there. */
function goSyntaxError(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (
    text.trim() === '' ||
    (/end of JSON input|Unterminated|Expected .* position \d+$/.test(message) && endsAt(message, text))
  )
    return 'unexpected end of JSON input'
  const position = /position (\d+)/.exec(message)?.[1]
  const character = position === undefined ? text.trimStart()[0] : text[Number(position)]
  return `invalid character '${character ?? ''}' looking for beginning of value`
}

function endsAt(message: string, text: string): boolean {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN)
  return Number.isNaN(position) || position >= text.trimEnd().length
}
