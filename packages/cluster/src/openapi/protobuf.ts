// SPDX-License-Identifier: Apache-2.0

// The Swagger 2 document as protobuf. kubectl and Helm only request this form. They use it for client-side
// validation.
import type { Schema } from './schemas.ts'

/** Field numbers of the OpenAPI 2 messages, as in Go clients. */
const documentField = { swagger: 1, info: 2, paths: 8, definitions: 9 } as const
const infoField = { title: 1, version: 2 } as const
const schemaField = {
  $ref: 1,
  format: 2,
  title: 3,
  description: 4,
  required: 19,
  additionalProperties: 21,
  type: 22,
  items: 23,
  allOf: 24,
  properties: 25,
  extension: 31,
} as const
/** A pair of a name and a value. */
const named = { name: 1, value: 2 } as const
/** An extension value is encoded as YAML. */
const anyYaml = 2

const lengthDelimited = 2

export function encodeDocument2(document: {
  readonly swagger: string
  readonly info: { readonly title: string; readonly version: string }
  readonly definitions: Readonly<Record<string, Schema>>
}): Uint8Array {
  const { swagger, info, definitions } = document
  return Buffer.concat([
    text(documentField.swagger, swagger),
    message(documentField.info, [text(infoField.title, info.title), text(infoField.version, info.version)]),
    message(documentField.paths, []),
    message(documentField.definitions, namedSchemas(definitions)),
  ])
}

function namedSchemas(schemas: Readonly<Record<string, Schema>>): Buffer[] {
  return Object.entries(schemas).map(([name, schema]) =>
    message(1, [text(named.name, name), message(named.value, encodeSchema(schema))]),
  )
}

function encodeSchema(schema: Schema): Buffer[] {
  const parts: Buffer[] = []
  for (const key of ['$ref', 'format', 'title', 'description'] as const)
    if (typeof schema[key] === 'string') parts.push(text(schemaField[key], schema[key]))
  if (Array.isArray(schema.required))
    for (const name of schema.required) parts.push(text(schemaField.required, String(name)))
  if (isSchema(schema.additionalProperties))
    parts.push(
      message(schemaField.additionalProperties, [message(1, encodeSchema(schema.additionalProperties))]),
    )
  if (typeof schema.type === 'string') parts.push(message(schemaField.type, [text(1, schema.type)]))
  if (isSchema(schema.items)) parts.push(message(schemaField.items, [message(1, encodeSchema(schema.items))]))
  if (Array.isArray(schema.allOf))
    for (const each of schema.allOf.filter(isSchema))
      parts.push(message(schemaField.allOf, encodeSchema(each)))
  if (isSchema(schema.properties))
    parts.push(
      message(schemaField.properties, namedSchemas(schema.properties as Readonly<Record<string, Schema>>)),
    )
  for (const [key, value] of Object.entries(schema))
    if (key.startsWith('x-'))
      parts.push(
        message(schemaField.extension, [
          text(named.name, key),
          // JSON is YAML.
          message(named.value, [text(anyYaml, JSON.stringify(value))]),
        ]),
      )
  return parts
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(field: number, value: string): Buffer {
  return delimited(field, Buffer.from(value))
}

function message(field: number, parts: readonly Buffer[]): Buffer {
  return delimited(field, Buffer.concat(parts))
}

function delimited(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + lengthDelimited), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  bytes.push(value)
  return Buffer.from(bytes)
}
