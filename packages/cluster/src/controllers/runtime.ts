// SPDX-License-Identifier: Apache-2.0

import type { CachedClient, Clock, Logger } from '@grove/kube'
import type { Caches } from './caches.ts'
import type { EventNotes } from './event-notes.ts'

/** What every controller of the cluster is given: it brings nothing of its own, so that a run repeats from its seed. */
export interface Runtime {
  /** Its writes are visible in the caches at once. */
  readonly client: CachedClient
  readonly caches: Caches
  readonly events: EventNotes
  readonly clock: Clock
  /** 0 ≤ r < 1. */
  readonly random: () => number
  readonly log: Logger
}

/** A part of the cluster that can be started and stopped. Caches it names in its constructor are synced before start. */
export interface Component {
  readonly name: string
  /** The signal is the hard stop. */
  start(signal: AbortSignal): Promise<void> | void
  /** Begins nothing new; resolves when what runs has ended. */
  stop(): Promise<void>
}
