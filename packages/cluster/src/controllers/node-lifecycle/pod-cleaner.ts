// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Stored } from '@grove/kube'
import { changesOf, keyOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { nodes, type Pod, pods } from '../kinds.ts'
import type { Runtime } from '../runtime.ts'
import { timestamp } from '../timestamp.ts'

/** The time after which the pods of a deleted node are removed. The node may be registered again before. */
const quarantineMs = 40_000
const workers = 8

/** Removes pods of nodes that no longer exist, because no kubelet will do it. */
export class PodCleaner extends ControlLoop {
  readonly #missingSince = new Map<string, number>()

  constructor(runtime: Runtime) {
    super('pod-garbage-collector', runtime, workers)
    const { caches } = runtime
    const podCache = caches.pods
    this.watch(
      changesOf(podCache, ({ old, new: pod }) => {
        const needsReconcile =
          pod && (old?.spec?.nodeName !== pod.spec?.nodeName || pod.metadata.deletionTimestamp)
        return needsReconcile ? [keyOf(pod.metadata)] : []
      }),
      changesOf(caches.of(nodes), ({ type, old, new: node }) => {
        if (type === 'add') this.#missingSince.delete(node.metadata.name)
        if (type !== 'delete') return []
        return podCache.byIndex('node', old.metadata.name).map(({ metadata }) => keyOf(metadata))
      }),
    )
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const pod = caches.pods.get(refOf(key))
    const nodeName = pod?.spec?.nodeName
    if (!pod) return undefined
    if (!nodeName) {
      if (pod.metadata.deletionTimestamp) await this.#remove(pod)
      return undefined
    }
    if (caches.of(nodes).get({ name: nodeName })) return undefined
    const since = this.#missingSince.get(nodeName) ?? clock.monotonic()
    this.#missingSince.set(nodeName, since)
    const left = since + quarantineMs - clock.monotonic()
    if (left > 0) return { requeueAfter: left }
    await this.#failPod(pod)
    return undefined
  }

  async #failPod(pod: Stored<Pod>): Promise<void> {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: timestamp(this.runtime.clock.now()),
    }
    const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    const strategic = {
      metadata: { uid: pod.metadata.uid },
      status: { phase: 'Failed', conditions: [condition] },
    }
    try {
      if (!hasEnded)
        await this.runtime.client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    await this.#remove(pod)
  }

  async #remove({ metadata }: Stored<Pod>): Promise<void> {
    try {
      const { uid } = metadata
      await this.runtime.client.delete(pods, metadata, { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
