// SPDX-License-Identifier: Apache-2.0

import { type Logger, silentLogger } from '../log/index.ts'
import type { Priority } from '../queue/index.ts'
import type { Source } from './controller.ts'

/** A key to reconcile, with an optional priority. */
export type KeyRequest<Key extends string> = Key | { readonly key: Key; readonly priority: Priority }

/**
 * Turns the changes of any subscription into keys. If the map throws, the error is logged and that change yields no
 * key: a broken map must not stop the cache that calls it.
 */
export function sourceOf<Change, Key extends string>(
  subscribe: (handler: (change: Change) => void) => () => void,
  map: (change: Change) => Iterable<KeyRequest<Key>>,
  log: Logger = silentLogger,
): Source<Key> {
  return enqueue =>
    subscribe(change => {
      try {
        for (const request of map(change)) {
          if (typeof request === 'string') enqueue(request)
          else enqueue(request.key, request.priority)
        }
      } catch (error) {
        log.error('Failed to map a change to keys', { error })
      }
    })
}
