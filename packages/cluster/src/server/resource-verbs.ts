// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import { parseBody } from './body.ts'
import { createObject } from './create.ts'
import { decodeObject } from './decode-object.ts'
import { type DeleteOutcome, deleteObject } from './delete.ts'
import { type DeleteOptions, parseDeleteOptions } from './delete-options.ts'
import { parseListOptions } from './list-options.ts'
import { requireName } from './metadata.ts'
import { readPatch } from './patch.ts'
import { getObject, listObjects } from './read.ts'
import type { ApiResponse } from './request.ts'
import { presenterOf, type ResourceCall, withOptions, writeRequestOf } from './resource-call.ts'
import { statusResponse } from './response.ts'
import { parseSelection } from './selection.ts'
import { ApiError, apiError, deletedStatus } from './status.ts'
import { type Change, mainScope, statusScope, type UpdateScope, updateObject } from './update.ts'
import { watchObjects } from './watch.ts'

export function get(call: ResourceCall): ApiResponse {
  const { context, resource, info } = call
  const presenter = presenterOf(call)
  return presenter.object(200, getObject(context, resource, info.namespace, info.name))
}

export function list(call: ResourceCall): ApiResponse {
  const { context, resource, info, request } = call
  const presenter = presenterOf(call)
  const options = parseListOptions(request.query, false)
  return presenter.list(
    listObjects(context, resource, info.namespace, options, parseSelection(resource, request.query)),
  )
}

export function watch(call: ResourceCall): ApiResponse {
  const { context, resource, info, request } = call
  const presenter = presenterOf(call)
  const selection = parseSelection(resource, request.query)
  const named = info.name
  const stream = watchObjects(
    context,
    resource,
    info.namespace,
    parseListOptions(request.query, true),
    named ? object => object.metadata.name === named && (selection?.(object) ?? true) : selection,
    presenter.events(),
    request.signal,
  )
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    stream,
  }
}

export async function create(call: ResourceCall): Promise<ApiResponse> {
  const { context, resource, request } = call
  const presenter = presenterOf(call)
  const write = writeRequestOf(call)
  const body = parseBody(request, resource.kind, resource.struct)
  const draft = decodeObject(context.registry, resource, body, write.options.fieldValidation, write.warn)
  if (resource.evaluate)
    return presenter.object(201, await resource.evaluate(draft, context, request.user), write.warnings)
  context.ownership.track(draft, undefined, write.fieldWrite(context))
  return presenter.object(201, await createObject(context, write, draft), write.warnings)
}

export async function update(
  call: ResourceCall,
  scope: UpdateScope = mainScope(call.resource),
): Promise<ApiResponse> {
  const { context, resource, request, info } = call
  const presenter = presenterOf(call)
  const write = writeRequestOf(call)
  const body = parseBody(request, resource.kind, resource.struct)
  const decode = (): KubeObject =>
    decodeObject(context.registry, resource, body, write.options.fieldValidation, write.warn)
  const first = decode()
  requireName(write, first)
  const createMissing = info.subresource === '' && (resource.strategy.createOnUpdate ?? false)
  let next: KubeObject | undefined = first
  const change: Change = live => {
    const draft = next ?? decode()
    next = undefined
    context.ownership.track(draft, live, write.fieldWrite(context))
    return draft
  }
  const { object, created } = await updateObject(context, write, change, scope, { createMissing })
  return presenter.object(created ? 201 : 200, object, write.warnings)
}

export async function patch(
  call: ResourceCall,
  scope: UpdateScope = mainScope(call.resource),
): Promise<ApiResponse> {
  const { context, request } = call
  const presenter = presenterOf(call)
  const write = writeRequestOf(call)
  const { change, createMissing } = readPatch(context, request, write)
  const { object, created } = await updateObject(context, write, change, scope, {
    createMissing: createMissing && call.info.subresource === '',
    uidIdentifies: false,
  })
  return presenter.object(created ? 201 : 200, object, write.warnings)
}

export async function remove(call: ResourceCall): Promise<ApiResponse> {
  const options = parseDeleteOptions(call.request)
  const write = deleteRequest(call, options)
  const { deletionWarning } = call.resource.strategy
  if (deletionWarning && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    write.warn(deletionWarning)
  const outcome = await deleteObject(call.context, write, options)
  return deletionResponse(call, outcome, write.warnings)
}

function deleteRequest(call: ResourceCall, options: DeleteOptions) {
  return withOptions(
    call,
    { dryRun: options.dryRun, fieldManager: '', fieldValidation: 'Ignore', force: undefined },
    call.resource,
  )
}

function deletionResponse(
  call: ResourceCall,
  { object, gone }: DeleteOutcome,
  warnings: readonly string[],
): ApiResponse {
  const { resource } = call
  if (gone && !resource.strategy.returnsDeleted)
    return statusResponse(deletedStatus(resource, object.metadata.name!, object.metadata.uid), warnings)
  return presenterOf(call).object(200, object, warnings)
}

/** Deletes the selected objects one by one. Ignores objects that another client deletes in the meantime. */
export async function removeCollection(call: ResourceCall): Promise<ApiResponse> {
  const { context, resource, info, request } = call
  const presenter = presenterOf(call)
  const options = parseDeleteOptions(request)
  const selection = parseSelection(resource, request.query)
  const found = listObjects(
    context,
    resource,
    info.namespace,
    { ...parseListOptions(request.query, false), resourceVersion: '', match: '' },
    selection,
  )
  const items: KubeObject[] = []
  for (const item of found.items) {
    const { name = '', namespace = '' } = item.metadata
    const one = { ...call, info: { ...info, name, namespace: resource.namespaced ? namespace : '' } }
    try {
      await deleteObject(context, deleteRequest(one, options), options)
      items.push(item)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
    }
  }
  return presenter.list({ items, metadata: found.metadata })
}

export async function status(call: ResourceCall): Promise<ApiResponse> {
  switch (call.info.verb) {
    case 'get':
      return get(call)
    case 'update':
      return update(call, statusScope(call.resource))
    case 'patch':
      return patch(call, statusScope(call.resource))
    default:
      throw apiError.methodNotAllowed()
  }
}
