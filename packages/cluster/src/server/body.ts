// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '@grove/apimachinery'
import { decodeMessage, openEnvelope, ProtobufError } from '../schema/protobuf.ts'
import type { StructType } from '../schema/type-table.ts'
import { JsonTextError, jsonTypeName, readJsonText } from './json-text.ts'
import { mediaTypeOf } from './media-type.ts'
import type { ApiRequest } from './request.ts'
import { apiError } from './status.ts'
import { findStrictErrors } from './strict-errors.ts'
import { readYamlText } from './yaml-text.ts'

const protobufType = 'application/vnd.kubernetes.protobuf'
const bodyTypes = ['application/json', 'application/yaml', protobufType]

/** The limit of the real API server. */
export const maximumBodyBytes = 3 * 1024 * 1024

export interface ParsedBody {
  readonly value: JsonObject
  /** Returns the strict decoding errors, given the fields that the type does not have. */
  readonly strictErrors: (unknownFields: readonly string[]) => string[]
}

/** For encodings that cannot contain duplicate fields. */
export function unknownOnly(unknownFields: readonly string[]): string[] {
  return unknownFields.map(field => `unknown field "${field}"`)
}

export function bodyText(request: ApiRequest): string {
  const { body } = request
  if (body === undefined) return ''
  if (body.length > maximumBodyBytes) throw apiError.tooLarge(maximumBodyBytes)
  return typeof body === 'string' ? body : bufferOf(body).toString('utf8')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Parses the body of a create or update: one object. `struct` is its type if protobuf is accepted. */
export function parseBody(request: ApiRequest, kind: string, struct?: StructType): ParsedBody {
  try {
    return readBody(request, struct)
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    throw apiError.badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summarize(request)})`,
    )
  }
}

/** `parseBody` for a body that the server reads itself. Its fields are not checked against T. */
export function parseBodyAs<T extends object>(request: ApiRequest, kind: string, struct: StructType): T {
  return parseBody(request, kind, struct).value as object as T
}

/** Parses a body that only contains options. Its error messages do not repeat the body. */
export function parseOptionsBody(request: ApiRequest, struct: StructType): JsonObject {
  try {
    return readBody(request, struct).value
  } catch (error) {
    if (error instanceof UnreadableBody) throw apiError.badRequest(error.message)
    throw error
  }
}

/** Not even the kind of the object could be decoded. */
class UnreadableBody extends Error {}

function readBody(request: ApiRequest, struct: StructType | undefined): ParsedBody {
  const header = request.headers['content-type']
  const type = header ? mediaTypeOf(header) : 'application/json'
  if (type === protobufType && struct)
    return { value: readProtobuf(request, struct), strictErrors: unknownOnly }
  if (type !== 'application/json' && type !== 'application/yaml')
    throw apiError.unsupportedMediaType(bodyTypes)
  const text = bodyText(request)
  const isJson = type === 'application/json'
  return {
    value: asObject(isJson ? readJson(text) : readYaml(text)),
    strictErrors: isJson ? unknown => findStrictErrors(text, unknown) : unknownOnly,
  }
}

function readProtobuf(request: ApiRequest, struct: StructType): JsonObject {
  const { body = '' } = request
  if (body.length > maximumBodyBytes) throw apiError.tooLarge(maximumBodyBytes)
  try {
    const { apiVersion, kind, raw } = openEnvelope(typeof body === 'string' ? Buffer.from(body) : body)
    return { ...decodeMessage(struct, raw), ...(apiVersion && { apiVersion }), ...(kind && { kind }) }
  } catch (error) {
    if (error instanceof ProtobufError) throw new UnreadableBody(error.message)
    throw error
  }
}

function readJson(text: string): unknown {
  try {
    return readJsonText(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw noKind(error.message)
    throw error
  }
}

function readYaml(text: string): unknown {
  try {
    return readYamlText(text)
  } catch (error) {
    throw new UnreadableBody((error as Error).message)
  }
}

function noKind(why: string): UnreadableBody {
  return new UnreadableBody(`couldn't get version/kind; json parse error: ${why}`)
}

const typeMetaStruct =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function asObject(value: unknown): JsonObject {
  if (value === null) return {}
  if (!isJsonObject(value))
    throw noKind(`json: cannot unmarshal ${jsonTypeName(value)} into ${typeMetaStruct}`)
  for (const field of ['apiVersion', 'kind']) {
    const claim = value[field] ?? ''
    if (typeof claim !== 'string')
      throw noKind(
        `json: cannot unmarshal ${jsonTypeName(claim)} into Go struct field .${field} of type string`,
      )
  }
  return value
}

/** The number of bytes of an undecodable body that its error message repeats. */
const shownBytes = 30

/** Returns the beginning of an undecodable body: as text if it looks like JSON, else in hexadecimal. */
export function summarize({ body = '' }: Pick<ApiRequest, 'body'>): string {
  const bytes = typeof body === 'string' ? Buffer.from(body) : bufferOf(body)
  if (bytes.length === 0) return '<empty>'
  const shown = bytes.subarray(0, shownBytes).toString(bytes[0] === 0x7b ? 'utf8' : 'hex')
  return bytes.length > shownBytes ? `${shown} ...` : shown
}
