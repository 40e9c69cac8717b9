// SPDX-License-Identifier: Apache-2.0

import { cloneJson, equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import { type KubeObject, type ObjectOf, objectKey } from '../object.ts'
import type { Resource, Strategy, StrategyContext } from '../registry/resource.ts'
import type { AdmissionAttributes } from './admission.ts'
import { type ServerContext, strategyContext } from './context.ts'
import { createObject } from './create.ts'
import {
  bumpGeneration,
  carryOverMetadata,
  claimedKind,
  ensureNamespace,
  metadataErrors,
  metadataWarnings,
} from './metadata.ts'
import { present } from './presentation.ts'
import { apiError } from './status.ts'
import type { WriteRequest } from './write-request.ts'

/**
 * Creates the new object from the live one, including managedFields. Called again if another client wrote in
 * between.
 */
export type Change = (live: KubeObject | undefined) => KubeObject | Promise<KubeObject>

export interface UpdateMode {
  /** Creates the object if it does not exist. */
  readonly createMissing: boolean
  /** A uid in the draft is a precondition. In a patch it is a change of an immutable field instead. */
  readonly uidIdentifies?: boolean
}

export interface UpdateOutcome {
  readonly object: KubeObject
  readonly created: boolean
}

/** The rules of an update through a subresource: which part of the draft is used, and how it is validated. */
export interface UpdateScope<T = KubeObject> {
  /** Restores the fields that this subresource may not change. */
  prepare(draft: ObjectOf<T>, live: ObjectOf<T>, context: StrategyContext): void
  validate(draft: ObjectOf<T>, live: ObjectOf<T>): FieldError[]
  validateAmongOthers?: Strategy<T>['validateAmongOthers']
  /** The object in the form that admission receives, if the subresource has its own kind. */
  readonly view?: AdmissionView
}

export interface AdmissionView {
  readonly kind: Resource
  /** The object as that kind. */
  of(object: KubeObject): KubeObject
  /** Returns the draft with the changes that mutating admission made to its view. */
  changed(draft: KubeObject, view: KubeObject): KubeObject
}

/** A scope for a subresource of one kind. Only handlers of that kind may use it. */
export function updateScope<T>(scope: UpdateScope<T>): UpdateScope {
  return scope as unknown as UpdateScope
}

/** The number of attempts if other clients write the object at the same time. */
const conflictAttempts = 5

export async function updateObject(
  context: ServerContext,
  request: WriteRequest,
  change: Change,
  scope: UpdateScope,
  mode: UpdateMode,
): Promise<UpdateOutcome> {
  const { resource, name } = request
  const key = objectKey(request.namespace, name)
  for (let attempt = 1; ; attempt++) {
    const stored = context.store.get(resource.storage, key)
    if (!stored) {
      if (!mode.createMissing) throw apiError.notFound(resource, name)
      const draft = await change(undefined)
      delete draft.metadata.resourceVersion
      return { object: await createObject(context, request, draft), created: true }
    }
    const live = present(resource, stored)
    const draft = await change(live)
    if (mode.uidIdentifies ?? true) checkIdentity(resource, name, draft, live)
    checkVersion(resource, name, draft, live)
    const object = await prepareUpdate(context, request, draft, live, scope)
    if (isUnchanged(object, live)) return { object: live, created: false }
    const outcome = commitUpdate(context, request, key, object, stored)
    if (outcome) return { object: outcome, created: false }
    // A request with a resourceVersion fails in the next attempt. A patch without one is applied again to the
    // new object.
    if (attempt >= conflictAttempts) throw apiError.modified(resource, name)
  }
}

function checkIdentity(resource: Resource, name: string, draft: KubeObject, live: KubeObject): void {
  const { uid } = draft.metadata
  if (uid && uid !== live.metadata.uid)
    throw apiError.conflict(
      resource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, live)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
    )
}

/** A resourceVersion in the draft must be the current one. */
function checkVersion(resource: Resource, name: string, draft: KubeObject, live: KubeObject): void {
  const { resourceVersion } = draft.metadata
  if (!resourceVersion) {
    if (resource.strategy.requireResourceVersion)
      throw apiError.invalid({ group: resource.group, kind: resource.plural }, name, [
        fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
      ])
    draft.metadata.resourceVersion = live.metadata.resourceVersion
    return
  }
  if (!/^\d+$/.test(resourceVersion))
    throw apiError.unexpected(`strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`)
  if (resourceVersion !== live.metadata.resourceVersion) throw apiError.modified(resource, name)
}

/** The etcd key of the object in a real API server. Error messages contain it. */
export function storageKey(resource: Resource, { metadata }: KubeObject): string {
  const path = resource.struct ? resource.plural : `${resource.group}/${resource.plural}`
  return `/registry/${path}/${objectKey(metadata.namespace, metadata.name!)}`
}

async function prepareUpdate(
  context: ServerContext,
  request: WriteRequest,
  draft: KubeObject,
  live: KubeObject,
  scope: UpdateScope,
): Promise<KubeObject> {
  const { resource } = request
  ensureNamespace(draft, request.namespace)
  const { view } = scope
  const attributes: AdmissionAttributes = view
    ? { ...request.attributes('UPDATE', view.of(draft), view.of(live)), objectKind: view.kind }
    : request.attributes('UPDATE', draft, live)
  await context.admission.mutate(attributes, context)
  const mutated = view ? view.changed(draft, attributes.object!) : attributes.object!
  const object = context.ownership.dropTimeOnlyChanges(mutated, live)
  const strategy = strategyContext(context)
  carryOverMetadata(object, live)
  scope.prepare(object, live, strategy)
  let errors = [...metadataErrors(resource, object, live), ...scope.validate(object, live)]
  if (errors.length === 0) errors = scope.validateAmongOthers?.(object, live, strategy) ?? []
  if (errors.length > 0)
    throw apiError.invalid(claimedKind(resource, object), object.metadata.name ?? '', errors)
  for (const warning of metadataWarnings(object, live)) request.warn(warning)
  for (const warning of resource.strategy.warnings?.(object, live) ?? []) request.warn(warning)
  const seen = view ? view.of(object) : object
  await context.admission.validate({ ...attributes, object: seen, warn: request.warn }, context)
  return object
}

/** Returns undefined if another client wrote the object since it was read. */
function commitUpdate(
  context: ServerContext,
  request: WriteRequest,
  key: string,
  object: KubeObject,
  stored: KubeObject,
): KubeObject | undefined {
  const { resource } = request
  if (request.options.dryRun) return object
  const draft = resource.conversion ? resource.conversion.toStorage(object) : object
  if (isFinished(draft) && !resource.strategy.isHeld?.(draft)) {
    const last = context.store.remove(resource.storage, key, stored)
    if (last) resource.strategy.released?.(last, strategyContext(context))
    return last && object
  }
  return context.store.write(resource.storage, key, draft, stored) ? present(resource, draft) : undefined
}

/** An object that is being deleted is removed by the update that removes its last finalizer. */
function isFinished({ metadata }: KubeObject): boolean {
  return (
    Boolean(metadata.deletionTimestamp) &&
    !metadata.finalizers?.length &&
    !metadata.deletionGracePeriodSeconds
  )
}

/** A write without changes creates no revision and no event. */
function isUnchanged(object: KubeObject, live: KubeObject): boolean {
  return equalJson(object, live)
}

/** A write to the main resource: ignores changes of the status. */
export function mainScope(resource: Resource): UpdateScope {
  const { strategy } = resource
  return {
    prepare(draft, live, context) {
      if (strategy.hasStatus) restoreField(draft, live, 'status')
      strategy.prepareForUpdate?.(draft, live, context)
      bumpGeneration(resource, draft, live)
    },
    validate: (draft, live) => [
      ...(strategy.validateUpdate?.(draft, live) ?? strategy.validate?.(draft) ?? []),
    ],
    validateAmongOthers: strategy.validateAmongOthers,
  }
}

/** A write to /status: only the status changes. For custom kinds labels and annotations stay too. */
export function statusScope(resource: Resource): UpdateScope {
  const { strategy } = resource
  return {
    prepare(draft, live, context) {
      if (resource.struct) {
        for (const key of Object.keys({ ...draft, ...live }))
          if (key !== 'status' && key !== 'metadata') restoreField(draft, live, key)
        delete draft.metadata.ownerReferences
        if (live.metadata.ownerReferences)
          draft.metadata.ownerReferences = cloneJson(live.metadata.ownerReferences)
      } else {
        for (const key of Object.keys({ ...draft, ...live }))
          if (key !== 'status' && key !== 'metadata') restoreField(draft, live, key)
        // managedFields are the only metadata that a status write of a custom kind changes.
        const { managedFields } = draft.metadata
        const { managedFields: _, ...metadata } = live.metadata
        draft.metadata = { ...cloneJson(metadata), ...(managedFields && { managedFields }) }
      }
      strategy.prepareForStatusUpdate?.(draft, live, context)
    },
    validate: (draft, live) => strategy.validateStatusUpdate?.(draft, live) ?? [],
  }
}

function restoreField(draft: KubeObject, live: KubeObject, field: string): void {
  if (live[field] === undefined) delete draft[field]
  else draft[field] = cloneJson(live[field])
}
