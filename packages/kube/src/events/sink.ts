// SPDX-License-Identifier: Apache-2.0

import type { Client } from '../client/client.ts'
import { isKubeError, isNotFound, type KubeErrorCode } from '../client/error.ts'
import { type EventFormat, eventResources, type StoredEvent } from './event.ts'

/**
 * Where events go. `refused`: the server will never take it (its namespace is going away, we may not write there).
 * `gone`: it is no longer stored and can be created anew. What may work later rejects.
 */
export interface EventSink {
  readonly format: EventFormat
  create(event: StoredEvent, signal: AbortSignal): Promise<'written' | 'refused'>
  patch(event: StoredEvent, patch: object, signal: AbortSignal): Promise<'written' | 'gone' | 'refused'>
}

const final: readonly KubeErrorCode[] = [
  'BadRequest',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Invalid',
  'TooLarge',
  'MethodNotAllowed',
]

/** Events over the API: core/v1 unless told. */
export function eventSink(
  client: Pick<Client, 'create' | 'patch'>,
  format: EventFormat = 'core/v1',
): EventSink {
  const resource = eventResources[format]
  // The recorder repeats by itself, later and merged with what happened meanwhile.
  const once = (signal: AbortSignal) => ({ signal, attempts: 1 })
  return {
    format,
    create: async (event, signal) => {
      try {
        await client.create(resource, event, once(signal))
        return 'written'
      } catch (error) {
        // The answer to an earlier attempt was lost: names are random, so it is ours.
        if (isKubeError(error, 'AlreadyExists')) return 'written'
        if (isKubeError(error, ...final)) return 'refused'
        throw error
      }
    },
    patch: async (event, patch, signal) => {
      try {
        await client.patch(resource, event.metadata, { merge: patch }, once(signal))
        return 'written'
      } catch (error) {
        if (isNotFound(error)) return 'gone'
        if (isKubeError(error, ...final)) return 'refused'
        throw error
      }
    },
  }
}
