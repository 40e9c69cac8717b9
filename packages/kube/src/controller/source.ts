// SPDX-License-Identifier: Apache-2.0

import { type Logger, silentLogger } from '../log/index.ts'
import type { Priority } from '../queue/index.ts'
import type { Source } from './controller.ts'

/** A key to look at, with or without a priority. */
export type KeyRequest<Key extends string> = Key | { readonly key: Key; readonly priority: Priority }

/**
 * Turns the changes of anything that can be subscribed to into keys. The map is a plain function; one that throws is
 * logged and that one change gives no key: a broken map must not stop the cache that calls it.
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
        log.error('A change could not be mapped to keys', { error })
      }
    })
}
