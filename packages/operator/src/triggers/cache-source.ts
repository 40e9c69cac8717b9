// SPDX-License-Identifier: Apache-2.0

import {
  type Change,
  type KeyRequest,
  type KubeObject,
  type Logger,
  type Source,
  sourceOf,
} from '@grove/kube'

export interface Observable<T extends KubeObject> {
  onChange(handler: (change: Change<T>) => void): () => void
}

/** Enqueues the keys that `map` returns for each change of an object in a cache. */
export function changesOf<T extends KubeObject, Key extends string>(
  cache: Observable<T>,
  log: Logger,
  map: (change: Change<T>) => Iterable<KeyRequest<Key>>,
): Source<Key> {
  return sourceOf<Change<T>, Key>(handler => cache.onChange(handler), map, log)
}
