// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef } from '@grove/kube'

/** `namespace/name`: the work queue key of an object. */
export type ObjectKey = `${string}/${string}`

export function keyOf(object: KubeObject): ObjectKey {
  return `${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`
}

export function refOf(key: ObjectKey): Required<ObjectRef> {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}
