// SPDX-License-Identifier: Apache-2.0

import { cloneJson, isJsonObject, type JsonObject, setOwn } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { DecodeError } from '../schema/decode.ts'
import type { ServerContext } from './context.ts'
import { jsonTypeName, readJsonText } from './json-text.ts'
import { checkName } from './metadata.ts'
import { ApiError, apiError } from './status.ts'
import type { Change } from './update.ts'
import type { WriteRequest } from './write-request.ts'
import { readYamlText } from './yaml-text.ts'

/** Server-side apply: merges the configuration into the live object, or creates a new object. */
export function readConfiguration(context: ServerContext, write: WriteRequest, text: string): Change {
  const configuration = parseConfiguration(write, text)
  return live => {
    const merged = context.ownership.apply(live, cloneJson(configuration), {
      ...write.fieldWrite(context),
      force: write.options.force ?? false,
    })
    const object = completed(write.resource, merged)
    checkName(write, object)
    return object
  }
}

function parseConfiguration(write: WriteRequest, text: string): JsonObject {
  let value: unknown
  try {
    value = parseText(text, write)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw apiError.badRequest(
      `error decoding patch: error converting YAML to JSON: yaml: ${(error as Error).message}`,
    )
  }
  if (value === null) return {}
  if (!isJsonObject(value))
    throw apiError.badRequest(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`,
    )
  return value
}

/** JSON is also YAML, but the JSON parser is much faster. */
function parseText(text: string, { options, warn }: WriteRequest): unknown {
  try {
    return readJsonText(text)
  } catch {
    // The YAML parser below reports the error.
  }
  const value = readYamlText(text, { uniqueKeys: false })
  if (options.fieldValidation === 'Ignore') return value
  try {
    readYamlText(text)
  } catch (error) {
    const problem = (error as Error).message
    if (options.fieldValidation === 'Strict')
      throw apiError.badRequest(`error strict decoding YAML: ${problem}`)
    warn(problem)
  }
  return value
}

/**
 * Decodes the merged object and applies defaults. managedFields stay as they are, because many objects share
 * them.
 */
function completed(resource: Resource, merged: KubeObject): KubeObject {
  const { managedFields, ...metadata } = merged.metadata
  const object = decodeMerged(resource, { ...merged, metadata })
  const nulls = resource.struct ? undefined : cloneJson(object)
  resource.codec.applyDefaults(object)
  if (nulls) restoreNulls(nulls, object)
  if (managedFields) object.metadata.managedFields = managedFields
  return object
}

function decodeMerged(resource: Resource, merged: JsonObject): KubeObject {
  try {
    return cloneJson(resource.codec.decode(merged).object)
  } catch (error) {
    if (error instanceof DecodeError) throw apiError.unexpected(error.message)
    throw error
  }
}

/**
 * A list that lost its last item is null. The schema validates this null, while a null from the client is
 * dropped.
 */
function restoreNulls(merged: JsonObject, object: JsonObject): void {
  for (const [key, value] of Object.entries(merged)) {
    if (value === null) {
      if (!Object.hasOwn(object, key)) setOwn(object, key, null)
    } else if (isJsonObject(value) && isJsonObject(object[key])) restoreNulls(value, object[key])
    else if (Array.isArray(value) && Array.isArray(object[key]))
      for (const [index, item] of value.entries()) {
        const other: unknown = object[key][index]
        if (isJsonObject(item) && isJsonObject(other)) restoreNulls(item, other)
      }
  }
}
