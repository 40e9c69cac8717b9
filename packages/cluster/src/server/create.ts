// SPDX-License-Identifier: Apache-2.0

import { type KubeObject, objectKey } from '../object.ts'
import { emptyStruct } from '../schema/decode.ts'
import type { StructType } from '../schema/type-table.ts'
import { type ServerContext, strategyContext } from './context.ts'
import {
  claimedKind,
  ensureNamespace,
  generateName,
  metadataErrors,
  metadataWarnings,
  stampNewObject,
} from './metadata.ts'
import { present } from './presentation.ts'
import { apiError } from './status.ts'
import type { WriteRequest } from './write-request.ts'

/** The API server also generates a new name this often if the name is taken. */
const nameAttempts = 8

/**
 * Stores a decoded object whose managedFields are set. Returns the stored object in the version of the
 * request.
 */
export async function createObject(
  context: ServerContext,
  request: WriteRequest,
  draft: KubeObject,
): Promise<KubeObject> {
  const { resource, namespace } = request
  ensureNamespace(draft, namespace)
  if (!draft.metadata.name && draft.metadata.generateName && draft.metadata.generateName !== '')
    return createWithGeneratedName(context, request, draft)
  if (request.name && draft.metadata.name !== request.name)
    throw apiError.badRequest(
      `the name of the object (${draft.metadata.name}) does not match the name on the URL (${request.name})`,
    )
  return commitCreate(context, request, draft, resource.strategy.hasGeneration)
}

async function createWithGeneratedName(
  context: ServerContext,
  request: WriteRequest,
  draft: KubeObject,
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt++) {
    draft.metadata.name = generateName(draft.metadata.generateName!, context.random)
    const key = objectKey(request.namespace, draft.metadata.name)
    if (context.store.get(request.resource.storage, key) && attempt < nameAttempts) continue
    return commitCreate(context, request, draft, request.resource.strategy.hasGeneration)
  }
}

async function commitCreate(
  context: ServerContext,
  request: WriteRequest,
  draft: KubeObject,
  hasGeneration: boolean,
): Promise<KubeObject> {
  const { resource } = request
  if (draft.metadata.resourceVersion)
    throw apiError.unexpected('resourceVersion should not be set on objects to be created')
  const attributes = request.attributes('CREATE', draft, undefined)
  await context.admission.mutate(attributes, context)
  const object = attributes.object!
  const strategy = strategyContext(context)
  stampNewObject(object, strategy.now, context.random)
  if (hasGeneration) object.metadata.generation = 1
  else if (resource.struct) delete object.metadata.generation
  if (resource.strategy.hasStatus && !resource.strategy.keepsNewStatus) resetStatus(object, resource.struct)
  resource.strategy.prepareForCreate?.(object, strategy)
  let errors = [...metadataErrors(resource, object), ...(resource.strategy.validate?.(object) ?? [])]
  if (errors.length === 0) errors = resource.strategy.validateAmongOthers?.(object, undefined, strategy) ?? []
  if (errors.length > 0)
    throw apiError.invalid(claimedKind(resource, object), object.metadata.name ?? '', errors)
  for (const warning of metadataWarnings(object)) request.warn(warning)
  for (const warning of resource.strategy.warnings?.(object, undefined) ?? []) request.warn(warning)
  await context.admission.validate({ ...attributes, object, warn: request.warn }, context)
  const key = objectKey(request.namespace, object.metadata.name!)
  const stored = resource.conversion ? resource.conversion.toStorage(object) : object
  const existing = context.store.get(resource.storage, key)
  if (existing)
    throw apiError.alreadyExists(
      resource,
      object.metadata.name!,
      Boolean(existing.metadata.deletionTimestamp),
    )
  if (request.options.dryRun) return object
  context.store.write(resource.storage, key, stored, undefined)
  return present(resource, stored)
}

/** Clients cannot set the status of a new object. Built-in kinds show an empty one. */
function resetStatus(object: KubeObject, struct: StructType | undefined): void {
  const type = struct?.fields.get('status')
  if (type?.type.kind === 'struct' && !type.pointer) object.status = emptyStruct(type.type.struct)
  else delete object.status
}
