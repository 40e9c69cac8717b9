// SPDX-License-Identifier: Apache-2.0

import type { CachedClient, Clock, Logger } from '@grove/kube'
import type { Caches } from './caches.ts'
import type { ComponentEvents } from './component-events.ts'

/**
 * The dependencies of every controller. Clock and randomness are passed in, so that a run can be repeated
 * from its seed.
 */
export interface Runtime {
  /** Its writes are visible in the caches at once. */
  readonly client: CachedClient
  readonly caches: Caches
  readonly events: ComponentEvents
  readonly clock: Clock
  /** 0 ≤ r < 1. */
  readonly random: () => number
  readonly log: Logger
}

/**
 * A part of the cluster that can be started and stopped. The caches that its constructor uses are synced
 * before start.
 */
export interface Component {
  readonly name: string
  /** Aborting the signal stops immediately. */
  start(signal: AbortSignal): Promise<void> | void
  /** Stops gracefully: starts no new work, and resolves when running work has ended. */
  stop(): Promise<void>
}
