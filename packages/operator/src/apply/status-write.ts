// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type KubeObject, type RequestOptions, type Resource, type Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { mergePatch } from './owned-fields.ts'
import { patchObject } from './writes.ts'

/**
 * Writes the fields that differ; sends nothing if none do. The patch carries the resource version that the status was
 * computed from: a status from an outdated cache must not overwrite a newer one.
 */
export async function writeStatus<T extends KubeObject & { readonly status?: unknown }>(
  caches: Pick<Caches, 'client'>,
  resource: Resource<T>,
  object: Stored<T>,
  status: unknown,
  options: RequestOptions,
): Promise<boolean> {
  const patch = mergePatch(object.status, status)
  if (!patch) return false
  const { resourceVersion } = object.metadata
  try {
    await patchObject(
      caches,
      resource,
      object,
      { merge: { metadata: { resourceVersion }, status: patch } },
      { ...options, subresource: 'status' },
    )
    return true
  } catch (error) {
    // The object was deleted meanwhile, so its status no longer matters.
    if (isNotFound(error)) return false
    throw error
  }
}
