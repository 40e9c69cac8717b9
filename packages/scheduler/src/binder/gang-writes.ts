// SPDX-License-Identifier: Apache-2.0

// The writes of the scheduler other than bindings. A conflict is no error: the newer object arrives through the watch and
// leads to the next cycle.
import { type Pod, type PodGang, unschedulableCondition } from '@grove/api'
import { equalJson } from '@grove/apimachinery'
import {
  type Client,
  evictPod,
  isConflict,
  isKubeError,
  isNotFound,
  type Logger,
  type Stored,
} from '@grove/kube'
import type { Eviction } from '../types.ts'
import { scheduledCondition } from './gang-status.ts'
import { resources } from './resources.ts'
import type { Slots } from './slots.ts'
import { unschedulablePatch } from './unschedulable-pods.ts'

export interface GangEvents {
  emit(gang: Stored<PodGang>, event: { type: 'Normal' | 'Warning'; reason: string; message: string }): void
}

export interface GangWritesOptions {
  readonly client: Client
  readonly log: Logger
  readonly slots: Slots
  readonly events?: GangEvents
}

export class GangWrites {
  readonly #options: GangWritesOptions

  constructor(options: GangWritesOptions) {
    this.#options = options
  }

  /** Returns false if the gang has changed meanwhile, so that nothing was written. */
  async writeStatus(
    gang: Stored<PodGang>,
    status: NonNullable<PodGang['status']>,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (equalJson(gang.status, status)) return true
    const { client, events } = this.#options
    const { uid, resourceVersion, name, namespace = '' } = gang.metadata
    try {
      await client.patch(
        resources.podGangs,
        { namespace, name },
        { merge: { metadata: { uid, resourceVersion }, status } },
        { subresource: 'status', signal },
      )
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false
      throw error
    }
    if (events) for (const event of eventsBetween(gang, { ...gang, status })) events.emit(gang, event)
    return true
  }

  /** The resource version keeps the scheduler from deleting a pod that has become ready meanwhile. */
  async release({ metadata }: Stored<Pod>, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    const { name, namespace = '', uid, resourceVersion } = metadata
    log.info('Releasing a pod of a gang that does not fit as a whole', { pod: `${namespace}/${name}` })
    try {
      const preconditions = { uid, resourceVersion }
      await client.delete(resources.pods, { name, namespace }, { preconditions, signal })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  /** Evicts pods for gangs of higher priority, within their PodDisruptionBudgets. */
  async evict(evictions: readonly Eviction[], signal: AbortSignal): Promise<void> {
    await Promise.all(evictions.map(eviction => this.#options.slots.run(() => this.#evict(eviction, signal))))
  }

  async #evict({ namespace, pod, uid, preemptor }: Eviction, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    const fields = { pod: `${namespace}/${pod}`, preemptor: `${preemptor.namespace}/${preemptor.name}` }
    log.info('Evicting a pod for a gang of higher priority', fields)
    try {
      await evictPod(client, { namespace, name: pod }, { preconditions: { uid }, signal })
    } catch (error) {
      if (isKubeError(error, 'TooManyRequests'))
        log.info('A PodDisruptionBudget forbids the eviction', fields)
      else if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  /** Writes to pods why they wait. */
  async reportPods(pods: readonly Pod[], message: string, now: number, signal: AbortSignal): Promise<void> {
    await Promise.all(
      pods.map(pod => this.#options.slots.run(() => this.#reportPod(pod, message, now, signal))),
    )
  }

  async #reportPod(pod: Pod, message: string, now: number, signal: AbortSignal): Promise<void> {
    const patch = unschedulablePatch(pod, message, now)
    if (!patch) return
    const { name, namespace = '' } = pod.metadata
    try {
      await this.#options.client.patch(
        resources.pods,
        { name, namespace },
        { strategic: patch as Record<string, unknown> },
        { subresource: 'status', signal },
      )
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}

/** The event of a gang that becomes scheduled, or that cannot be scheduled for a new reason. */
function eventsBetween(before: PodGang, after: PodGang): Parameters<GangEvents['emit']>[1][] {
  const scheduled = scheduledCondition(after)
  if (scheduled?.status === 'True')
    return scheduledCondition(before)?.status === 'True'
      ? []
      : [{ type: 'Normal', reason: 'GangScheduled', message: scheduled.message }]
  const cause = unschedulableCondition(after)
  return cause && cause.reason !== unschedulableCondition(before)?.reason
    ? [{ type: 'Warning', reason: 'GangUnschedulable', message: cause.message }]
    : []
}
