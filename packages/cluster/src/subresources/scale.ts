// SPDX-License-Identifier: Apache-2.0

import {
  cloneJson,
  type FieldPath,
  fieldElement,
  fieldError,
  isJsonObject,
  type JsonObject,
  type ManagedFieldsEntry,
  managedFieldsAfterScale,
  scaleManagedFields,
} from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { builtIn } from '../registry/built-in.ts'
import type { Resource, ScalePaths } from '../registry/resource.ts'
import { selectorText } from '../registry/tables/selector.ts'
import { parseBody } from '../server/body.ts'
import { decodeObject } from '../server/decode-object.ts'
import { checkName } from '../server/metadata.ts'
import { readPatch } from '../server/patch.ts'
import { apiVersionOf } from '../server/presentation.ts'
import { getObject } from '../server/read.ts'
import type { ApiResponse } from '../server/request.ts'
import { presenterOf, type ResourceCall, writeRequestOf } from '../server/resource-call.ts'
import { type ApiError, apiError } from '../server/status.ts'
import { type AdmissionView, type Change, mainScope, updateObject } from '../server/update.ts'
import { WriteRequest } from '../server/write-request.ts'

/** The Scale kind as a resource, for decoding bodies and encoding responses. */
const scaleResource: Resource = builtIn({
  type: 'autoscaling/v1.Scale',
  group: 'autoscaling',
  plural: 'scales',
  namespaced: true,
})

export async function handleScale(call: ResourceCall): Promise<ApiResponse> {
  const { context, resource, info } = call
  const presenter = presenterOf(call, scaleResource)
  if (info.verb === 'get')
    return presenter.object(200, scaleOf(resource, getObject(context, resource, info.namespace, info.name)))
  const write = writeRequestOf(call)
  const scaleChange = info.verb === 'patch' ? patchScale(call, write) : replaceScale(call, write)
  const change: Change = async live => {
    const current = hasReplicas(resource, live!) ? scaleOf(resource, live!) : unsetScaleOf(resource, live!)
    setManagedFields(current, scaleManagedFields(live!.metadata.managedFields, replicasPath(resource)))
    const wanted = await scaleChange(current)
    checkName(write, wanted)
    if (replicasAt(wanted, ['spec', 'replicas']) === unsetReplicas)
      throw apiError.badRequest(`the spec replicas field "${shownPath(resource)}" cannot be empty`)
    return withReplicas(resource, live!, wanted)
  }
  const scope = { ...mainScope(resource), view: scaleView(resource) }
  const { object } = await updateObject(context, write, change, scope, { createMissing: false })
  return presenter.object(200, scaleOf(resource, object), write.warnings)
}

/** Admission of the scale subresource sees Scale objects, and can change nothing but the replicas. */
function scaleView(resource: Resource): AdmissionView {
  return {
    kind: scaleResource,
    of: object =>
      hasReplicas(resource, object) ? scaleOf(resource, object) : unsetScaleOf(resource, object),
    changed(draft, scale) {
      const replicas = replicasAt(scale, ['spec', 'replicas'])
      if (replicas < 0) throw negativeReplicas(resource, draft.metadata.name ?? '', replicas)
      setReplicas(resource, draft, replicas)
      return draft
    },
  }
}

type ScaleChange = (current: KubeObject) => KubeObject | Promise<KubeObject>

function replaceScale({ context, request }: ResourceCall, write: WriteRequest): ScaleChange {
  const body = parseBody(request, 'Scale', scaleResource.struct)
  const asScale = new WriteRequest({ ...write, resource: scaleResource })
  return current => {
    const wanted = decodeObject(
      context.registry,
      scaleResource,
      body,
      write.options.fieldValidation,
      write.warn,
    )
    context.ownership.track(wanted, current, asScale.fieldWrite(context))
    return wanted
  }
}

function patchScale({ context, request }: ResourceCall, write: WriteRequest): ScaleChange {
  const asScale = new WriteRequest({ ...write, resource: scaleResource })
  const { change } = readPatch(context, request, asScale)
  return current => change(current)
}

/** The value of replicas that are not set, where the API server needs a number. No user would request it. */
const unsetReplicas = -2147483648

/** A custom object can be scaled before its replicas are set. */
function unsetScaleOf(resource: Resource, object: KubeObject): KubeObject {
  const draft = cloneJson(object)
  setReplicas(resource, draft, unsetReplicas)
  return scaleOf(resource, draft)
}

function hasReplicas({ struct, scale }: Resource, object: KubeObject): boolean {
  return struct !== undefined || valueAt(object, scale!.specReplicas) !== undefined
}

function shownPath({ scale }: Resource): string {
  return `.${scale!.specReplicas.join('.')}`
}

function scaleOf(resource: Resource, object: KubeObject): KubeObject {
  const paths = resource.scale!
  if (!hasReplicas(resource, object))
    throw apiError.internal(`the spec replicas field "${shownPath(resource)}" does not exist`)
  const selector = selectorOf(resource, paths, object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: object.metadata.name,
      namespace: object.metadata.namespace,
      uid: object.metadata.uid,
      resourceVersion: object.metadata.resourceVersion,
      creationTimestamp: object.metadata.creationTimestamp,
    },
    spec:
      replicasAt(object, paths.specReplicas) === 0
        ? {}
        : { replicas: replicasAt(object, paths.specReplicas) },
    status: { replicas: replicasAt(object, paths.statusReplicas), ...(selector && { selector }) },
  }
}

function replicasPath({ scale }: Resource): FieldPath {
  return scale!.specReplicas.map(fieldElement)
}

function setManagedFields(
  { metadata }: KubeObject,
  entries: readonly ManagedFieldsEntry[] | undefined,
): void {
  if (entries) metadata.managedFields = entries as KubeObject['metadata']['managedFields']
  else delete metadata.managedFields
}

function selectorOf(resource: Resource, paths: ScalePaths, object: KubeObject): string {
  if (!paths.selector) return ''
  const value = valueAt(object, paths.selector)
  if (resource.struct) return isJsonObject(value) ? selectorText(value) : ''
  return typeof value === 'string' ? value : ''
}

function replicasAt(object: KubeObject, path: readonly string[]): number {
  const value = valueAt(object, path)
  return typeof value === 'number' ? value : 0
}

function valueAt(object: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), object)
}

/**
 * For built-in kinds the error is about the Scale, for custom kinds about the object and the path of its
 * definition.
 */
function negativeReplicas(resource: Resource, name: string, replicas: number): ApiError {
  if (!resource.struct)
    return apiError.invalid(resource, name, [
      fieldError.invalid(shownPath(resource), replicas, 'should be a non-negative integer'),
    ])
  return apiError.invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
    fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
  ])
}

function setReplicas({ scale }: Resource, draft: KubeObject, replicas: number): void {
  const path = scale!.specReplicas
  let holder: JsonObject = draft
  for (const key of path.slice(0, -1)) {
    if (!isJsonObject(holder[key])) holder[key] = {}
    holder = holder[key] as JsonObject
  }
  holder[path.at(-1)!] = replicas
}

function withReplicas(resource: Resource, live: KubeObject, scale: KubeObject): KubeObject {
  const replicas = (scale.spec as { replicas?: number } | undefined)?.replicas ?? 0
  const { name = '', uid, resourceVersion } = scale.metadata
  if (replicas < 0) throw negativeReplicas(resource, name, replicas)
  const draft = cloneJson(live)
  setReplicas(resource, draft, replicas)
  draft.metadata.resourceVersion = resourceVersion || live.metadata.resourceVersion
  draft.metadata.uid = uid || live.metadata.uid
  setManagedFields(
    draft,
    managedFieldsAfterScale(
      live.metadata.managedFields,
      scale.metadata.managedFields,
      replicasPath(resource),
      apiVersionOf(resource),
    ),
  )
  return draft
}
