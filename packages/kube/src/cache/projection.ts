// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../client/index.ts'
import type { IndexFunction } from './indexed-store.ts'

/** Strings that many objects repeat, kept once: label values, images, node names. */
export interface Interner {
  (text: string): string
  (text: string | undefined): string | undefined
}

/** Distinct strings that are remembered; beyond it the table starts anew, which costs memory but no correctness. */
const longestTable = 65_536

/** JSON gives each object its own copy of every longer string. An interner hands out the copy it saw first. */
export function createInterner(): Interner {
  const known = new Map<string, string>()
  function intern(text: string): string
  function intern(text: string | undefined): string | undefined
  function intern(text: string | undefined): string | undefined {
    if (text === undefined) return undefined
    const first = known.get(text)
    if (first !== undefined) return first
    if (known.size >= longestTable) known.clear()
    known.set(text, text)
    return text
  }
  return intern
}

/** A copy of labels or the like whose values are kept once. */
export function internValues(
  values: Readonly<Record<string, string>> | undefined,
  intern: Interner,
): Record<string, string> | undefined {
  if (values === undefined) return undefined
  const copy: Record<string, string> = {}
  for (const key in values) copy[key] = intern(values[key]!)
  return copy
}

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
