// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef } from './object.ts'
import type { DeleteOptions, Patch } from './options.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** Serializes an object with the apiVersion and kind that the server expects. */
export function serialize<T extends KubeObject>(resource: Resource<T>, object: T): string {
  if (object.apiVersion && object.kind) return JSON.stringify(object)
  return JSON.stringify({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind })
}

export function refOf(object: KubeObject): ObjectRef {
  const { name, namespace } = object.metadata ?? {}
  if (!name) throw new TypeError(`an object of kind ${object.kind ?? 'unknown'} has no name`)
  return { name, namespace }
}

export function namespaceOf(resource: Resource, object: KubeObject): string | undefined {
  const namespace = object.metadata?.namespace
  if (resource.namespaced && !namespace)
    throw new TypeError(`a new ${resource.kind} needs metadata.namespace`)
  return namespace
}

/** Returns content type, body, and whether applying the patch twice equals applying it once. */
export function patchBody(patch: Patch): [contentType: string, body: unknown, idempotent: boolean] {
  if ('merge' in patch) return ['application/merge-patch+json', patch.merge, true]
  if ('strategic' in patch) return ['application/strategic-merge-patch+json', patch.strategic, true]
  return ['application/json-patch+json', patch.json, false]
}

/** Returns the body of a delete, or undefined if there are no options. */
export function deleteBody(options: DeleteOptions): string | undefined {
  const fields = deleteFields(options)
  return fields && JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...fields })
}

export function deleteFields(options: DeleteOptions): object | undefined {
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options
  if (!preconditions && !propagationPolicy && gracePeriodSeconds === undefined && !dryRun) return undefined
  return { preconditions, propagationPolicy, gracePeriodSeconds, dryRun: dryRun ? ['All'] : undefined }
}
