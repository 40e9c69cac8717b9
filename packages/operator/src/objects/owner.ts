// SPDX-License-Identifier: Apache-2.0

import type { OwnerReference } from '@grove/api'

export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly uid?: string }
}

/** Every object that we make has one: deletion relies on nothing else. */
export function controlledBy(owner: Owner): OwnerReference[] {
  return [
    {
      apiVersion: owner.apiVersion,
      kind: owner.kind,
      name: owner.metadata.name,
      uid: owner.metadata.uid ?? '',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]
}
