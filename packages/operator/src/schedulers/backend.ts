// SPDX-License-Identifier: Apache-2.0

import type { EventValue, SchedulerName } from '@grove/api'
import type { KubeObject, ObjectMeta } from '@grove/kube'
import type { PodGangInstance } from '../layout/layout.ts'
import type { NewPod, StoredGang, StoredSet } from '../layout/stored.ts'
import { longestCause } from '../state/pod-state.ts'

/** An object of another API that a scheduler reads. */
export interface SchedulerObject extends KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta & { readonly name: string }
  /** A member whose value is undefined is removed from an existing object. Other members stay. */
  readonly spec?: Readonly<Record<string, unknown>>
}

export interface GangContext {
  readonly set: StoredSet
  /** The layout of the gang. */
  readonly instance: PodGangInstance
  /** The scheduler's own name of the set's topology, if a binding names a topology that another owner manages. */
  readonly topologyReference?: string | undefined
}

/** The gang cannot be expressed in the scheduler's terms. The message says what to change. */
export class GangMappingError extends Error {}

/** The interface of a scheduler backend. Each scheduler has one file, and no other code knows its name. */
export interface SchedulerBackend {
  /** The name of the profile. Also the value of `pod.spec.schedulerName`, unless `podSchedulerName` is set. */
  readonly name: SchedulerName
  readonly podSchedulerName?: string
  readonly topologyAware: boolean
  /**
   * True if pods get the operator's scheduling gate. False for a scheduler that itself waits until a gang is complete,
   * and for a scaled gang until its base gang is scheduled. It binds pods without a further write of the operator.
   */
  readonly gatesPods: boolean
  preparePod(pod: NewPod, membership: { readonly podGang: string; readonly clique: string }): NewPod
  /**
   * The scheduler's own objects for a gang. The gang owns them, so they are deleted with it. May throw
   * GangMappingError.
   */
  objectsFor(gang: StoredGang, context: GangContext): SchedulerObject[]
  /** The event for a gang that cannot be expressed in the scheduler's terms. */
  readonly mappingFailed?: (why: string) => EventValue
  /**
   * The scheduler writes phase and conditions of its PodGangs. The operator derives those of all other gangs from
   * pods.
   */
  readonly writesGangStatus?: boolean
  /** The cause for which the scheduler cannot place a gang, from the status of its own object for the gang. */
  readonly unschedulableMessage?: (object: KubeObject) => string | undefined
  /** Fields of their spec that the operator does not change once they have a value. */
  readonly keepsInSpec?: readonly string[]
  /** Fields of their spec that the API server does not change, whether or not they have a value. */
  readonly immutableInSpec?: readonly string[]
  /** Labels that the operator does not change once they have a value. */
  readonly keepsLabels?: readonly string[]
}

/**
 * The message of a condition with status True, in one of the condition lists of an object. Other programs write these
 * objects, so their shape is checked.
 */
export function conditionMessage(object: KubeObject, list: string, type: string): string | undefined {
  const { status } = object as { readonly status?: Readonly<Record<string, unknown>> }
  const conditions = status?.[list]
  if (!Array.isArray(conditions)) return undefined
  const found = conditions.findLast(one => one?.type === type && one.status === 'True')
  return typeof found?.message === 'string' && found.message
    ? found.message.slice(0, longestCause)
    : undefined
}
