// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef } from '@grove/kube'

/** `namespace/name` of an object of any kind. */
export type ObjectKey = `${string}/${string}`

declare const kind: unique symbol

/** Keys of work queues. Branded, so that the key of one kind cannot enter the queue of another. */
export type SetKey = ObjectKey & { readonly [kind]: 'PodCliqueSet' }
export type GroupKey = ObjectKey & { readonly [kind]: 'PodCliqueScalingGroup' }
export type CliqueKey = ObjectKey & { readonly [kind]: 'PodClique' }

/** The namespace and name of an object: from its metadata, a label or a reference. */
interface Named {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

export function setKey(set: Named): SetKey {
  return keyOfNamed(set) as SetKey
}

export function groupKey(group: Named): GroupKey {
  return keyOfNamed(group) as GroupKey
}

export function cliqueKey(clique: Named): CliqueKey {
  return keyOfNamed(clique) as CliqueKey
}

function keyOfNamed({ namespace = '', name = '' }: Named): ObjectKey {
  return `${namespace}/${name}`
}

/** For messages and indexes. Work queues take the key of one kind. */
export function keyOf({ metadata = { name: '' } }: KubeObject): ObjectKey {
  return keyOfNamed(metadata)
}

export function refOf(key: ObjectKey): Required<ObjectRef> {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}
