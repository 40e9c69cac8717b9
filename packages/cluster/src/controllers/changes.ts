// SPDX-License-Identifier: Apache-2.0

import {
  type Change,
  type ChangeHandler,
  type KubeObject,
  type ObjectRef,
  type Source,
  sourceOf,
} from '@grove/kube'

/** Maps the events of a cache to keys to enqueue. */
export function changesOf<T extends KubeObject>(
  cache: { onChange(handler: ChangeHandler<T>): () => void },
  map: (change: Change<T>) => Iterable<string>,
): Source<string> {
  return sourceOf((handler: ChangeHandler<T>) => cache.onChange(handler), map)
}

/** Enqueues the changed objects themselves. */
export function ownChangesOf<T extends KubeObject>(cache: {
  onChange(handler: ChangeHandler<T>): () => void
}): Source<string> {
  return changesOf(cache, change => [keyOf((change.new ?? change.old)!.metadata)])
}

/** `namespace/name`, or only the name for cluster-scoped objects. */
export function keyOf({ namespace, name }: ObjectRef): string {
  return namespace ? `${namespace}/${name}` : name
}

export function refOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: slash < 0 ? '' : key.slice(0, slash), name: key.slice(slash + 1) }
}
