// SPDX-License-Identifier: Apache-2.0

import type { EventValue, SchedulerName } from '@grove/api'
import type { NewPod, StoredGang, StoredSet } from '../layout/stored.ts'

/** An object of another API that a scheduler reads. */
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
  /** The scheduler's own name of the set's topology, where a binding says that another owner keeps it. */
  readonly topologyReference?: string
}

/** The gang cannot be expressed in the scheduler's terms. The message says what to change. */
export class GangMappingError extends Error {}

/** The interface of a scheduler backend. One file per scheduler; nothing else knows their names. */
export interface SchedulerBackend {
  /** Also what stands in `pod.spec.schedulerName`. */
  readonly name: SchedulerName
  readonly topologyAware: boolean
  preparePod(pod: NewPod, membership: { readonly podGang: string; readonly clique: string }): NewPod
  /** The scheduler's own objects for a gang; they are owned by the gang and go with it. May throw GangMappingError. */
  objectsFor(gang: StoredGang, context: GangContext): SchedulerObject[]
  /** The event for a gang that cannot be expressed in the scheduler's terms. */
  readonly mappingFailed?: (why: string) => EventValue
  /** Members of their spec that stay as they are once they have a value. */
  readonly keepsInSpec?: readonly string[]
}
