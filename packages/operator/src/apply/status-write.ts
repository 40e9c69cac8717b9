// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type KubeObject, type RequestOptions, type Resource, type Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { mergePatch } from './owned-fields.ts'
import { patchObject } from './writes.ts'

/**
 * Writes what differs, and nothing where nothing does. Only onto the version that the status was computed from: a
 * status from an outdated view would hide the newer one.
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
    // Gone meanwhile: there is nothing to say of it any more.
    if (isNotFound(error)) return false
    throw error
  }
}
