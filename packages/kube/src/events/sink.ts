// SPDX-License-Identifier: Apache-2.0

import type { Client } from '../client/client.ts'
import { isKubeError, isNotFound, type KubeErrorCode } from '../client/error.ts'
import { type EventFormat, eventResources, type StoredEvent } from './event.ts'

/**
 * The storage of events. `rejected`: the server will never accept it (its namespace is terminating, or RBAC forbids
 * it). `gone`: it is no longer stored and can be recreated. Rejects on temporary failures.
 */
export interface EventSink {
  readonly format: EventFormat
  create(event: StoredEvent, signal: AbortSignal): Promise<'written' | 'rejected'>
  patch(event: StoredEvent, patch: object, signal: AbortSignal): Promise<'written' | 'gone' | 'rejected'>
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

/** Stores events over the API. Default: core/v1. */
export function eventSink(
  client: Pick<Client, 'create' | 'patch'>,
  format: EventFormat = 'core/v1',
): EventSink {
  const resource = eventResources[format]
  // The recorder retries later, merged with further events.
  const once = (signal: AbortSignal) => ({ signal, attempts: 1 })
  return {
    format,
    create: async (event, signal) => {
      try {
        await client.create(resource, event, once(signal))
        return 'written'
      } catch (error) {
        // The response to an earlier attempt was lost. Names are random, so the existing event is the same one.
        if (isKubeError(error, 'AlreadyExists')) return 'written'
        if (isKubeError(error, ...final)) return 'rejected'
        throw error
      }
    },
    patch: async (event, patch, signal) => {
      try {
        await client.patch(resource, event.metadata, { merge: patch }, once(signal))
        return 'written'
      } catch (error) {
        if (isNotFound(error)) return 'gone'
        if (isKubeError(error, ...final)) return 'rejected'
        throw error
      }
    },
  }
}
