// SPDX-License-Identifier: Apache-2.0

import {
  applyDefaults,
  type CustomResourceType,
  isJsonObject,
  type JsonObject,
  prune,
  validateCustomResource,
} from '@grove/apimachinery'
import type { ObjectMeta } from '../kubernetes/index.ts'
import type { ClusterTopologyBinding, PodCliqueSet } from '../types/index.ts'
import { validateClusterTopologyBinding } from './clustertopologybinding.ts'
import { type Decoded, decodeMetadata, decodePodCliqueSet, unknownMetadata } from './decode.ts'
import { defaultPodCliqueSet } from './defaulting.ts'
import { changedMetadata, named, newMetadata, withStatusOf } from './object-preparation.ts'
import {
  type ValidationContext,
  type ValidationOutcome,
  validateChangedPodCliqueSet,
  validateNewPodCliqueSet,
} from './podcliqueset/validate.ts'
import { resourceType } from './resource-types.ts'
import { type AdmissionResponse, allowed, badRequest, forbidden, invalid } from './response.ts'

export interface AdmissionRequest {
  readonly operation: string
  readonly kind: string
  /** Namespace of the request. If absent, that of the object, else `default`. */
  readonly namespace?: string
  /** On update: the name in the URL. */
  readonly name?: string
  /** The object that the client sent, before defaulting and pruning. */
  readonly object?: unknown
  /** On update: the stored object. */
  readonly oldObject?: unknown
  /** With `Strict`, which kubectl requests, unknown fields are an error. Otherwise they are a warning. */
  readonly fieldValidation?: 'Strict' | 'Warn'
}

/**
 * Handles a request like an API server with the operator's webhooks: decoding, pruning, schema defaults, defaulting
 * webhook, schema and CEL rules, validating webhook. It is a pure function: the context contains the state of the
 * cluster.
 */
export function admit(request: AdmissionRequest, context: ValidationContext): AdmissionResponse {
  const { operation, kind } = request
  if (kind !== 'PodCliqueSet' && kind !== 'ClusterTopologyBinding') {
    return badRequest(`objects of kind ${kind} are not validated by this webhook`)
  }
  if (operation === 'DELETE' || operation === 'CONNECT') return allowed(200, [])
  if (operation !== 'CREATE' && operation !== 'UPDATE') return badRequest(`unknown operation "${operation}"`)
  const prepared = prepare(request, operation, resourceType(kind))
  if ('allowed' in prepared) return prepared
  return kind === 'PodCliqueSet' ? admitSet(prepared, context) : admitBinding(prepared, context)
}

/** An object as mutating webhooks receive it, with data about the request. */
interface Prepared {
  readonly type: CustomResourceType
  readonly object: JsonObject
  readonly old: JsonObject | undefined
  readonly namespace: string
  readonly warnings: readonly string[]
}

function prepare(
  request: AdmissionRequest,
  operation: 'CREATE' | 'UPDATE',
  type: CustomResourceType,
): Prepared | AdmissionResponse {
  const { object, oldObject } = request
  if (!isJsonObject(object)) return badRequest('the request contains no object')
  const metadata = decodeMetadata(object)
  if (!metadata.ok) return badRequest(metadata.message, [], metadata.causes)
  const namespace = type.namespaced ? (request.namespace ?? (metadata.value.namespace || 'default')) : ''
  const mismatch = mismatchOf(request, operation, metadata.value, namespace)
  if (mismatch) return badRequest(mismatch)

  let old: JsonObject | undefined
  if (operation === 'UPDATE') {
    if (!isJsonObject(oldObject)) return badRequest('an update request requires oldObject')
    old = storedObject(oldObject, namespace, type)
  }
  const { value, dropped } = prune(type.schema, {
    ...object,
    ...prepareMetadata(metadata.value, old, namespace),
  })
  const unknownFields = [...unknownMetadata(object), ...dropped].sort()
  if (request.fieldValidation === 'Strict' && unknownFields.length > 0) return notStrict(type, unknownFields)
  return {
    type,
    object: withStatusOf(applyDefaults(type.schema, value) as JsonObject, old),
    old,
    namespace,
    warnings: unknownFields.map(unknownField),
  }
}

/** API servers list at most this many errors of strict decoding. */
const maximumStrictErrors = 100

/** Strict decoding comes first: after an error the API server checks nothing else. */
function notStrict(
  { kind, apiVersion }: CustomResourceType,
  unknownFields: readonly string[],
): AdmissionResponse {
  const shown = unknownFields.slice(0, maximumStrictErrors)
  return badRequest(
    `${kind} in version "${apiVersion.split('/')[1]}" cannot be handled as a ${kind}: strict decoding error: ${shown.map(unknownField).join(', ')}`,
    [],
    shown.map(field => ({ field, message: unknownField(field), reason: 'FieldValueInvalid' })),
  )
}

function unknownField(field: string): string {
  return `unknown field "${field}"`
}

function mismatchOf(
  { name }: AdmissionRequest,
  operation: 'CREATE' | 'UPDATE',
  metadata: ObjectMeta,
  namespace: string,
): string | undefined {
  if (metadata.namespace && metadata.namespace !== namespace) {
    return 'the namespace of the provided object does not match the namespace sent on the request'
  }
  if (operation === 'CREATE' || name === undefined || name === metadata.name) return undefined
  return `the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`
}

/** The object as clients read it: without unknown fields, with schema defaults, in a namespace. */
function storedObject(object: JsonObject, namespace: string, type: CustomResourceType): JsonObject {
  const stored = applyDefaults(type.schema, prune(type.schema, object).value) as JsonObject
  const metadata = isJsonObject(stored.metadata) ? stored.metadata : {}
  if (namespace === '' || metadata.namespace) return stored
  return { ...stored, metadata: { ...metadata, namespace } }
}

function prepareMetadata(
  metadata: ObjectMeta,
  old: JsonObject | undefined,
  namespace: string,
): { metadata: ObjectMeta } {
  const namespaced = namespace === '' ? metadata : { ...metadata, namespace }
  if (!old) return { metadata: newMetadata(namespaced) }
  return {
    metadata: changedMetadata(
      namespaced,
      isJsonObject(old.metadata) ? (old.metadata as ObjectMeta & JsonObject) : { name: '' },
    ),
  }
}

const noRemarks: ValidationOutcome = { errors: [], warnings: [] }

function admitSet(prepared: Prepared, context: ValidationContext): AdmissionResponse {
  const { type, object, namespace, warnings } = prepared
  const decoded = decodeWithDefaults(object, type)
  if (!decoded.ok) {
    // An object that is being deleted must be able to lose its finalizer, whatever its content.
    const isTerminating =
      prepared.old !== undefined && Boolean((object.metadata as ObjectMeta).deletionTimestamp)
    if (!isTerminating) return badRequest(decoded.message, warnings, decoded.causes)
    return conclude(prepared, object as unknown as PodCliqueSet, prepared.old, () => noRemarks)
  }
  const stored = prepared.old && decodePodCliqueSet(prepared.old)
  // A stored object that cannot be decoded cannot be compared: its repair is validated like a new object.
  const old = stored?.ok ? stored.value : undefined
  // The old object may be a manifest: an API server would have stored it with defaults.
  const set = defaultPodCliqueSet(decoded.value, namespace, old && defaultPodCliqueSet(old, namespace))
  // The stored object gets the same defaults as the new one, so that fields that both omit are unchanged.
  return conclude(prepared, set, old ?? prepared.old, candidate =>
    old ? validateChangedPodCliqueSet(candidate, old, context) : validateNewPodCliqueSet(candidate, context),
  )
}

/** Fields that decoding adds may have schema defaults. An API server sets those after every mutating webhook. */
function decodeWithDefaults(object: JsonObject, { schema }: CustomResourceType): Decoded<PodCliqueSet> {
  const decoded = decodePodCliqueSet(object)
  const isComplete = !decoded.ok || (decoded.value as object) === object
  return isComplete ? decoded : decodePodCliqueSet(applyDefaults(schema, decoded.value))
}

function admitBinding(prepared: Prepared, { configuration }: ValidationContext): AdmissionResponse {
  const binding = prepared.object as unknown as ClusterTopologyBinding
  return conclude(prepared, binding, prepared.old, candidate => ({
    errors: validateClusterTopologyBinding(candidate, configuration),
    warnings: [],
  }))
}

/** Validates the schema first. The rules only get objects of the right shape. */
function conclude<T extends PodCliqueSet | ClusterTopologyBinding>(
  { type, warnings }: Prepared,
  object: T,
  old: unknown,
  rules: (object: T) => ValidationOutcome,
): AdmissionResponse {
  const candidate = named(object)
  const schemaErrors = validateCustomResource(type, candidate, old)
  if (schemaErrors.length > 0) {
    return invalid(`${titleOf(type)} "${object.metadata.name ?? ''}"`, schemaErrors, warnings)
  }
  const outcome = rules(candidate)
  const allWarnings = [...warnings, ...outcome.warnings]
  if (outcome.errors.length > 0) return forbidden(outcome.errors, allWarnings)
  return allowed(old ? 200 : 201, allWarnings, object)
}

function titleOf({ kind, apiVersion }: CustomResourceType): string {
  return `${kind}.${apiVersion.split('/')[0]}`
}
