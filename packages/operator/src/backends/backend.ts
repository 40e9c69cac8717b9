// SPDX-License-Identifier: Apache-2.0

import type { NewPod, StoredGang, StoredSet } from '../stored.ts'

/** An object of another API that a scheduler reads, of whatever kind. */
export interface SchedulerObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly [member: string]: unknown
  }
  readonly spec?: unknown
}

export interface GangContext {
  readonly set: StoredSet
  /** How the scheduler itself calls the set's topology, where a binding says that it is kept by somebody else. */
  readonly topologyReference?: string
}

/** What a scheduler wants of us. One file per scheduler; nothing else knows their names. */
export interface SchedulerBackend {
  /** Also what stands in `pod.spec.schedulerName`. */
  readonly name: string
  readonly topologyAware: boolean
  preparePod(pod: NewPod, membership: { readonly podGang: string; readonly clique: string }): NewPod
  /** The scheduler's own objects for a gang; they are owned by the gang and go with it. */
  objectsFor(gang: StoredGang, context: GangContext): SchedulerObject[]
  /** Members of their spec that stay as they are once they have a value. */
  readonly keepsInSpec?: readonly string[]
}
