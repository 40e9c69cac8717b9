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
import { type AdmissionAnswer, allowed, badRequest, forbidden, invalid } from './answers.ts'
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

export interface AdmissionRequest {
  readonly operation: string
  readonly kind: string
  /** Of the request. When absent, the object's own; `default` if it has none either. */
  readonly namespace?: string
  /** On update: the name in the URL. */
  readonly name?: string
  /** What the client sent, nothing defaulted or pruned. */
  readonly object?: unknown
  /** On update: the object as stored. */
  readonly oldObject?: unknown
  /** `Strict`, as kubectl asks for: unknown fields are an error. Otherwise they are a warning. */
  readonly fieldValidation?: 'Strict' | 'Warn'
}

/**
 * The whole way of a request through an API server with our webhooks: decoding, pruning, schema defaults, our defaults,
 * schema and CEL rules, our rules. Pure: what the rules ask of a cluster comes with the context.
 */
export function admit(request: AdmissionRequest, context: ValidationContext): AdmissionAnswer {
  const { operation, kind } = request
  if (kind !== 'PodCliqueSet' && kind !== 'ClusterTopologyBinding') {
    return badRequest(`objects of kind ${kind} are not judged here`)
  }
  if (operation === 'DELETE' || operation === 'CONNECT') return allowed(200, [])
  if (operation !== 'CREATE' && operation !== 'UPDATE') return badRequest(`unknown operation "${operation}"`)
  const prepared = prepare(request, operation, resourceType(kind))
  if ('allowed' in prepared) return prepared
  return kind === 'PodCliqueSet' ? admitSet(prepared, context) : admitBinding(prepared, context)
}

/** An object as it reaches mutating webhooks, and what is known about the request by then. */
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
): Prepared | AdmissionAnswer {
  const { object, oldObject } = request
  if (!isJsonObject(object)) return badRequest('the request holds no object')
  const metadata = decodeMetadata(object)
  if (!metadata.ok) return badRequest(metadata.message, [], metadata.causes)
  const namespace = type.namespaced ? (request.namespace ?? (metadata.value.namespace || 'default')) : ''
  const mismatch = mismatchOf(request, operation, metadata.value, namespace)
  if (mismatch) return badRequest(mismatch)

  let old: JsonObject | undefined
  if (operation === 'UPDATE') {
    if (!isJsonObject(oldObject)) return badRequest('an update needs the stored object')
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

/** API servers list no more problems of strict decoding than this. */
const maximumStrictErrors = 100

/** Strict decoding comes first: an API server then looks at nothing else. */
function notStrict(
  { kind, apiVersion }: CustomResourceType,
  unknownFields: readonly string[],
): AdmissionAnswer {
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

/** As it is read back: without unknown fields, with the defaults of the schema, in a namespace. */
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
  const placed = namespace === '' ? metadata : { ...metadata, namespace }
  if (!old) return { metadata: newMetadata(placed) }
  return {
    metadata: changedMetadata(
      placed,
      isJsonObject(old.metadata) ? (old.metadata as ObjectMeta & JsonObject) : { name: '' },
    ),
  }
}

const noRemarks: ValidationOutcome = { errors: [], warnings: [] }

function admitSet(prepared: Prepared, context: ValidationContext): AdmissionAnswer {
  const { type, object, namespace, warnings } = prepared
  const decoded = decodeWithDefaults(object, type)
  if (!decoded.ok) {
    // What is being deleted must be able to lose its finalizer, whatever it contains.
    const isTerminating =
      prepared.old !== undefined && Boolean((object.metadata as ObjectMeta).deletionTimestamp)
    if (!isTerminating) return badRequest(decoded.message, warnings, decoded.causes)
    return conclude(prepared, object as unknown as PodCliqueSet, prepared.old, () => noRemarks)
  }
  const stored = prepared.old && decodePodCliqueSet(prepared.old)
  // A stored object that cannot be read cannot be compared with: its repair is validated like a new object.
  const old = stored?.ok ? stored.value : undefined
  const set = defaultPodCliqueSet(decoded.value, namespace, old)
  // The stored object is completed like the new one: what both leave out has not changed.
  return conclude(prepared, set, old ?? prepared.old, judged =>
    old ? validateChangedPodCliqueSet(judged, old, context) : validateNewPodCliqueSet(judged, context),
  )
}

/** What decoding adds may have defaults of its own; an API server fills them in after every mutating webhook. */
function decodeWithDefaults(object: JsonObject, { schema }: CustomResourceType): Decoded<PodCliqueSet> {
  const decoded = decodePodCliqueSet(object)
  const isComplete = !decoded.ok || (decoded.value as object) === object
  return isComplete ? decoded : decodePodCliqueSet(applyDefaults(schema, decoded.value))
}

function admitBinding(prepared: Prepared, { configuration }: ValidationContext): AdmissionAnswer {
  const binding = prepared.object as unknown as ClusterTopologyBinding
  return conclude(prepared, binding, prepared.old, judged => ({
    errors: validateClusterTopologyBinding(judged, configuration),
    warnings: [],
  }))
}

/** The schema first; the rules only judge what has the right shape. */
function conclude<T extends PodCliqueSet | ClusterTopologyBinding>(
  { type, warnings }: Prepared,
  object: T,
  old: unknown,
  rules: (object: T) => ValidationOutcome,
): AdmissionAnswer {
  const judged = named(object)
  const schemaErrors = validateCustomResource(type, judged, old)
  if (schemaErrors.length > 0) {
    return invalid(`${titleOf(type)} "${object.metadata.name ?? ''}"`, schemaErrors, warnings)
  }
  const outcome = rules(judged)
  const allWarnings = [...warnings, ...outcome.warnings]
  if (outcome.errors.length > 0) return forbidden(outcome.errors, allWarnings)
  return allowed(old ? 200 : 201, allWarnings, object)
}

function titleOf({ kind, apiVersion }: CustomResourceType): string {
  return `${kind}.${apiVersion.split('/')[0]}`
}
