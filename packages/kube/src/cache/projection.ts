// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../client/index.ts'
import type { IndexFunction } from './indexed-store.ts'

/** Finds objects by the UID of their controlling owner. */
export const byControllerUid: IndexFunction<KubeObject> = object =>
  object.metadata.ownerReferences?.find(owner => owner.controller)?.uid

/** Finds objects by the value of a label; `namespaced` keeps namespaces apart: `namespace/value`. */
export function byLabel(
  label: string,
  options: { readonly namespaced?: boolean } = {},
): IndexFunction<KubeObject> {
  return ({ metadata }) => {
    const value = metadata.labels?.[label]
    return value === undefined || !options.namespaced ? value : `${metadata.namespace ?? ''}/${value}`
  }
}
