// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../client/index.ts'
import type { IndexFunction } from './indexed-store.ts'

/** Indexes objects by the UID of their controlling owner. */
export const byControllerUid: IndexFunction<KubeObject> = object =>
  object.metadata.ownerReferences?.find(owner => owner.controller)?.uid

/** Indexes objects by the value of a label. With `namespaced` the key is `namespace/value`. */
export function byLabel(
  label: string,
  options: { readonly namespaced?: boolean } = {},
): IndexFunction<KubeObject> {
  return ({ metadata }) => {
    const value = metadata.labels?.[label]
    return value === undefined || !options.namespaced ? value : `${metadata.namespace ?? ''}/${value}`
  }
}
