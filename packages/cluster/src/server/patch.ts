// SPDX-License-Identifier: Apache-2.0

import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMerge,
  cloneJson,
  fieldError,
  isJsonObject,
  type JsonObject,
  maxJsonPatchOperations,
  StrategicMergeError,
} from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { DecodeError } from '../schema/decode.ts'
import { readConfiguration } from './apply.ts'
import { bodyText, unknownOnly } from './body.ts'
import type { ServerContext } from './context.ts'
import { keepReset, reportStrictErrors } from './decode-object.ts'
import { jsonTypeName, readJsonText } from './json-text.ts'
import { mediaTypeOf } from './media-type.ts'
import { requireName } from './metadata.ts'
import { patchTypes } from './options.ts'
import { apiVersionOf } from './presentation.ts'
import type { ApiRequest } from './request.ts'
import { ApiError, apiError } from './status.ts'
import { findStrictErrors } from './strict-errors.ts'
import type { Change } from './update.ts'
import type { WriteRequest } from './write-request.ts'

/** Returns the change that a patch makes to the live object. Only server-side apply has `createMissing`. */
export function readPatch(
  context: ServerContext,
  request: ApiRequest,
  write: WriteRequest,
): { readonly change: Change; readonly createMissing: boolean } {
  const { resource } = write
  const type = mediaTypeOf(request.headers['content-type'])
  const text = bodyText(request)
  if (type === patchTypes.apply)
    return { change: readConfiguration(context, write, text), createMissing: true }
  checkType(resource, type)
  const patch = readPatchText(text)
  // The API server reports errors in the patch only if the object exists.
  let transform: Transform | undefined
  return {
    createMissing: false,
    change: live => {
      transform ??= readTransform(resource, type, patch)
      const draft = decodePatched(
        write,
        transform(withoutOwners(live!, type, text) as JsonObject),
        text,
        type,
      )
      context.ownership.track(draft, live, write.fieldWrite(context))
      return draft
    },
  }
}

/** A patch without managedFields does not change them, so they need not be copied and compared. */
function withoutOwners(live: KubeObject, type: string, text: string): KubeObject {
  if (type === patchTypes.json || text.includes('managedFields')) return live
  const { managedFields: _, ...metadata } = live.metadata
  return { ...live, metadata }
}

type Transform = (live: JsonObject) => unknown

function readTransform(resource: Resource, type: string, patch: unknown): Transform {
  switch (type) {
    case patchTypes.json: {
      const operations = readOperations(patch)
      return live => {
        const result = applyJsonPatch(live, operations)
        if (!result.ok) throw rejected()
        return result.value
      }
    }
    case patchTypes.merge: {
      const object = asPatchObject(patch, decodingPatch)
      return live => applyMergePatch(live, object)
    }
    default: {
      const object = asPatchObject(patch, '')
      return live => ({
        ...withPatchErrors(() => applyStrategicMerge(live, object, resource.struct!)),
        // The patch is decoded as the Go type, where these two have no effect.
        kind: live.kind,
        apiVersion: live.apiVersion,
      })
    }
  }
}

function checkType(resource: Resource, type: string): void {
  if (type === patchTypes.strategic && !resource.struct)
    throw apiError.unsupportedMediaType([patchTypes.json, patchTypes.merge, patchTypes.apply])
  if (!Object.values(patchTypes).includes(type)) throw unsupportedPatchType()
}

/** The client library creates this message for a response without a Status. */
function unsupportedPatchType(): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
}

const decodingPatch = 'error decoding patch: '

function readPatchText(text: string): unknown {
  try {
    return readJsonText(text)
  } catch {
    throw apiError.badRequest('invalid JSON patch')
  }
}

function asPatchObject(patch: unknown, prefix: string): JsonObject {
  if (patch === null && prefix) throw apiError.badRequest('Invalid JSON Patch')
  if (patch !== null && !isJsonObject(patch))
    throw apiError.badRequest(
      `${prefix}json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    )
  return patch ?? {}
}

function readOperations(patch: unknown): unknown[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) throw notDecoded(patch, 'value of type []handlers.jsonPatchOp')
  if (patch.length > maxJsonPatchOperations)
    throw new ApiError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${patch.length}`,
    )
  for (const operation of patch) {
    if (!isJsonObject(operation)) throw notDecoded(operation, 'value of type handlers.jsonPatchOp')
    for (const field of ['op', 'path', 'from'])
      if (operation[field] !== undefined && typeof operation[field] !== 'string')
        throw notDecoded(operation[field], `struct field jsonPatchOp.${field} of type string`)
  }
  return patch
}

function notDecoded(value: unknown, target: string): ApiError {
  return apiError.badRequest(
    `${decodingPatch}json: cannot unmarshal ${jsonTypeName(value)} into Go ${target}`,
  )
}

/** The client library creates this message for a response without a message. */
function rejected(): ApiError {
  return apiError.unprocessable('the server rejected our request due to an error in our request', {})
}

function mergeError({ code, message }: StrategicMergeError): ApiError {
  if (code === 400) return apiError.badRequest(message)
  return code === 422 ? apiError.unprocessable(message) : apiError.unexpected(message)
}

function withPatchErrors<T>(apply: () => T): T {
  try {
    return apply()
  } catch (error) {
    if (error instanceof StrategicMergeError) throw mergeError(error)
    throw error
  }
}

/** Decodes the patched object like a request body. Errors are reported for the field `patch`. */
function decodePatched(write: WriteRequest, patched: unknown, text: string, type: string): KubeObject {
  const { resource } = write
  if (!isJsonObject(patched)) throw rejected()
  const blame = (why: string) =>
    apiError.invalid({ group: '', kind: '' }, '', [fieldError.invalid('patch', JSON.stringify(patched), why)])
  const { kind = resource.kind, apiVersion = apiVersionOf(resource) } = patched
  if (!resource.struct && !patched.kind)
    throw blame(`Object 'Kind' is missing in '${JSON.stringify(patched)}'`)
  if (resource.struct && (kind !== resource.kind || apiVersion !== apiVersionOf(resource)))
    throw blame(`no kind "${String(kind)}" is registered for version "${String(apiVersion)}"`)
  let decoded: ReturnType<Resource['codec']['decode']>
  try {
    decoded = resource.codec.decode(resource.struct ? { ...patched, kind, apiVersion } : patched)
  } catch (error) {
    if (error instanceof DecodeError) throw blame(error.message)
    throw error
  }
  // Duplicate fields in the patch are errors. For unknown fields the position in the patch is not known.
  const problems = [
    ...(type === patchTypes.json ? [] : findStrictErrors(text, [])),
    ...unknownOnly(decoded.unknownFields),
  ]
  try {
    reportStrictErrors(resource, problems, write.options.fieldValidation, write.warn)
  } catch {
    throw blame(`strict decoding error: ${problems.join(', ')}`)
  }
  const object = cloneJson(decoded.object)
  keepReset(object, patched)
  resource.codec.applyDefaults(object)
  requireName(write, object)
  return object
}
