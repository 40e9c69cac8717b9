// SPDX-License-Identifier: Apache-2.0

import { label, type OwnerReference } from '@grove/api'
import type { KubeObject } from '@grove/kube'

export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly uid?: string }
}

/** Every object that the operator creates has a controller reference, because deletion relies on it. */
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

/** Compares by UID: another object may have the name of a former owner. */
export function isControlledBy(object: KubeObject, uid: string): boolean {
  return (object.metadata?.ownerReferences ?? []).some(
    reference => reference.controller && reference.uid === uid,
  )
}

/**
 * Reports whether an object without a controller carries the labels of the same set as the other object and may be
 * adopted.
 */
export function hasLabelsOfSameSet({ metadata }: KubeObject, { metadata: other }: KubeObject): boolean {
  return [label.managedBy, label.partOf].every(
    key => other?.labels?.[key] !== undefined && metadata?.labels?.[key] === other.labels[key],
  )
}
