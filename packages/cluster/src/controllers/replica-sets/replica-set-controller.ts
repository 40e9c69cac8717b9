// SPDX-License-Identifier: Apache-2.0

import { isKubeError, isNotFound, type Stored } from '@grove/kube'
import { labelTest } from '../../scheduling/selector.ts'
import { changesOf, keyOf, ownChangesOf, refOf } from '../changes.ts'
import { withCondition, withoutCondition } from '../conditions.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type Pod, pods, type ReplicaSet, replicaSets } from '../kinds.ts'
import { availableAt, isActive, isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { inDeletionOrder } from './deletion-order.ts'

const workers = 8
/** The number of pods created or deleted concurrently for one set. */
const concurrency = 64
/**
 * The number of pods created or deleted in one reconcile, so that one set does not block a worker for long.
 */
const burst = 500

/** Why pods could not be created or deleted. */
interface Failure {
  readonly reason: 'FailedCreate' | 'FailedDelete'
  readonly message: string
}

type ReplicaSetStatus = NonNullable<ReplicaSet['status']>

/** Keeps the replicas of a ReplicaSet. */
export class ReplicaSetController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('replicaset-controller', runtime, workers)
    const { caches } = runtime
    const sets = caches.replicaSets
    this.watch(
      ownChangesOf(sets),
      changesOf(caches.pods, ({ old, new: pod }) => [
        ...new Set([...ownerKeys(pod), ...ownerKeys(old), ...this.#possibleAdopters(pod)]),
      ]),
    )
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const set = caches.replicaSets.get(refOf(key))
    if (!set) return undefined
    if (!set.metadata.deletionTimestamp) await this.#adopt(set)
    let failure: Failure | undefined
    if (!set.metadata.deletionTimestamp) failure = await this.#syncReplicas(set)
    const owned = caches.pods.byIndex('controller', set.metadata.uid)
    await this.#writeStatus(set, owned, failure)
    if (failure) throw new Error(failure.message)
    const later = owned
      .map(pod => availableAt(pod, set.spec?.minReadySeconds ?? 0) ?? 0)
      .filter(at => at > clock.now())
    return later.length ? { requeueAt: Math.min(...later) } : undefined
  }

  /** Creates or deletes pods. Returns the failure. */
  async #syncReplicas(set: Stored<ReplicaSet>): Promise<Failure | undefined> {
    const active = this.runtime.caches.pods.byIndex('controller', set.metadata.uid).filter(isActive)
    const missing = (set.spec?.replicas ?? 1) - active.length
    try {
      if (missing > 0) await repeat(Math.min(missing, burst), () => this.#create(set))
      else if (missing < 0) {
        const surplus = inDeletionOrder(active).slice(0, Math.min(-missing, burst)).values()
        await repeat(Math.min(-missing, burst), () => this.#delete(set, surplus.next().value!))
      }
      if (Math.abs(missing) > burst) this.enqueue(keyOf(set.metadata))
      return undefined
    } catch (error) {
      if (!isKubeError(error)) throw error
      // A terminating namespace rejects new pods and deletes the set.
      if (error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating')) return undefined
      return { reason: missing > 0 ? 'FailedCreate' : 'FailedDelete', message: error.message }
    }
  }

  async #create(set: Stored<ReplicaSet>): Promise<void> {
    const { name, namespace, uid } = set.metadata
    const { metadata, spec } = set.spec?.template ?? {}
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        generateName: `${name}-`,
        namespace,
        labels: metadata?.labels,
        annotations: metadata?.annotations,
        finalizers: metadata?.finalizers,
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name,
            uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec,
    }
    const created = await this.runtime.client.create(pods, pod)
    this.#recordEvent(set, 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
  }

  async #delete(set: Stored<ReplicaSet>, pod: Stored<Pod>): Promise<void> {
    try {
      await this.runtime.client.delete(pods, pod.metadata, { preconditions: { uid: pod.metadata.uid } })
      this.#recordEvent(set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  #possibleAdopters(pod: Stored<Pod> | undefined): string[] {
    if (!pod || !isActive(pod) || controllerOf(pod)) return []
    return this.runtime.caches.replicaSets
      .list(pod.metadata.namespace)
      .filter(({ spec }) => labelTest(spec?.selector)(pod.metadata.labels ?? {}))
      .map(({ metadata }) => keyOf(metadata))
  }

  async #adopt(set: Stored<ReplicaSet>): Promise<void> {
    const { caches, client } = this.runtime
    const { name, namespace, uid } = set.metadata
    // Adoption reads all pods of the namespace, so only if pods are missing.
    if (caches.pods.countByIndex('controller', uid) >= (set.spec?.replicas ?? 1)) return
    const test = labelTest(set.spec?.selector)
    for (const pod of caches.pods.list(namespace)) {
      if (controllerOf(pod) || !isActive(pod) || !test(pod.metadata.labels ?? {})) continue
      const owner = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      }
      const ownerReferences = [...(pod.metadata.ownerReferences ?? []), owner]
      const { resourceVersion } = pod.metadata
      try {
        await client.patch(pods, pod.metadata, {
          merge: { metadata: { uid: pod.metadata.uid, resourceVersion, ownerReferences } },
        })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
  }

  async #writeStatus(set: Stored<ReplicaSet>, owned: readonly Stored<Pod>[], failure: Failure | undefined) {
    const { client, clock } = this.runtime
    const status = replicaSetStatus(set, owned, failure, clock.now())
    if (sameStatus(status, set.status)) return
    try {
      await client.patch(replicaSets, set.metadata, { merge: { status } }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  #recordEvent(set: Stored<ReplicaSet>, reason: string, message: string): void {
    this.runtime.events.record(replicaSets, set, { type: 'Normal', reason, message, component: this.name })
  }
}

export function replicaSetStatus(
  set: Stored<ReplicaSet>,
  owned: readonly Stored<Pod>[],
  failure: Failure | undefined,
  now: number,
): ReplicaSetStatus {
  const active = owned.filter(isActive)
  const labels = Object.entries(set.spec?.template?.metadata?.labels ?? {})
  const ready = active.filter(isReady)
  const minReady = set.spec?.minReadySeconds ?? 0
  const before = set.status?.conditions
  // Keeps the first message: it names a pod, and the next failure would name another. Every changed message
  // would cause an event and so an immediate retry.
  const hasFailed = before?.some(({ type }) => type === 'ReplicaFailure')
  const stillFailing = hasFailed
    ? before
    : withCondition(before, { type: 'ReplicaFailure', status: 'True', ...failure }, now)
  const conditions = failure ? stillFailing : withoutCondition(before, 'ReplicaFailure')
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) =>
      labels.every(([key, value]) => metadata.labels?.[key] === value),
    ).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter(pod => (availableAt(pod, minReady) ?? now + 1) <= now).length,
    terminatingReplicas: owned.filter(({ metadata }) => metadata.deletionTimestamp).length,
    observedGeneration: set.metadata.generation,
    conditions: [...(conditions ?? [])],
  }
}

function controllerOf({ metadata }: Stored<Pod>) {
  return metadata.ownerReferences?.find(({ controller }) => controller)
}

function ownerKeys(pod: Stored<Pod> | undefined): string[] {
  const owner = pod && controllerOf(pod)
  return owner?.kind === 'ReplicaSet' ? [`${pod?.metadata.namespace}/${owner.name}`] : []
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  let left = times
  const worker = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: Math.min(times, concurrency) }, worker))
}
