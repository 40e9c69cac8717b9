// SPDX-License-Identifier: Apache-2.0

import type { Client } from '../client/client.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../client/error.ts'
import { type Lease, leases } from './record.ts'

/** The API calls of an election. `conflict`: another client wrote first. Any other failure rejects. */
export interface LeaseClient {
  read(signal: AbortSignal): Promise<Lease | undefined>
  create(lease: Lease, signal: AbortSignal): Promise<Lease | 'conflict'>
  /** Succeeds only if the resourceVersion is still the stored one. */
  update(lease: Lease, signal: AbortSignal): Promise<Lease | 'conflict'>
}

/** One Lease over the API. Each call is one attempt that does not wait for other requests; the election retries. */
export function leaseClient(
  client: Pick<Client, 'find' | 'create' | 'update'>,
  lease: { readonly namespace: string; readonly name: string },
): LeaseClient {
  const options = (signal: AbortSignal) => ({ signal, attempts: 1, urgent: true })
  return {
    read: signal => client.find(leases, lease, options(signal)),
    create: (object, signal) => orConflict(client.create(leases, object, options(signal))),
    update: (object, signal) => orConflict(client.update(leases, object, options(signal))),
  }
}

async function orConflict(write: Promise<Lease>): Promise<Lease | 'conflict'> {
  try {
    return await write
  } catch (error) {
    // NotFound on update: the Lease was deleted since it was read.
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return 'conflict'
    throw error
  }
}
