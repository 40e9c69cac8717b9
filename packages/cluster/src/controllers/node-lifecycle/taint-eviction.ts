// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Stored } from '@grove/kube'
import { tolerates } from '../../scheduling/taints.ts'
import type { Taint } from '../../schema/types.generated.ts'
import { changesOf, keyOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { nodes, type Pod, pods } from '../kinds.ts'
import type { Runtime } from '../runtime.ts'
import { timestamp } from '../timestamp.ts'

const workers = 16

/** Deletes pods that do not tolerate a NoExecute taint of their node, or whose toleration time is over. */
export class TaintEviction extends ControlLoop {
  /** The time at which taints without timeAdded were first seen, by node and key. */
  readonly #firstSeen = new Map<string, Map<string, number>>()

  constructor(runtime: Runtime) {
    super('taint-eviction', runtime, workers)
    const { caches } = runtime
    const podCache = caches.pods
    this.watch(
      changesOf(podCache, ({ old, new: pod }) =>
        pod?.spec?.nodeName &&
        (!old?.spec?.nodeName || old.spec.tolerations?.length !== pod.spec.tolerations?.length)
          ? [keyOf(pod.metadata)]
          : [],
      ),
      changesOf(caches.of(nodes), ({ old, new: node }) => {
        this.#remember((node ?? old)!.metadata.name, executing(node?.spec?.taints))
        if (!node || (executing(old?.spec?.taints).length === 0 && executing(node.spec?.taints).length === 0))
          return []
        return podCache.byIndex('node', node.metadata.name).map(({ metadata }) => keyOf(metadata))
      }),
    )
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const pod = caches.pods.get(refOf(key))
    if (!pod?.spec?.nodeName || pod.metadata.deletionTimestamp) return undefined
    const node = caches.of(nodes).get({ name: pod.spec.nodeName })
    const at = evictionTime(pod, this.#dated(pod.spec.nodeName, executing(node?.spec?.taints)), clock.now())
    if (at === undefined) return undefined
    if (clock.now() < at) return { requeueAt: at }
    await this.#evict(pod)
    return undefined
  }

  #remember(node: string, taints: readonly Taint[]): void {
    const before = this.#firstSeen.get(node)
    const now = this.runtime.clock.now()
    const seen = new Map(
      taints.filter(({ timeAdded }) => !timeAdded).map(({ key = '' }) => [key, before?.get(key) ?? now]),
    )
    if (seen.size > 0) this.#firstSeen.set(node, seen)
    else this.#firstSeen.delete(node)
  }

  #dated(node: string, taints: readonly Taint[]): readonly Taint[] {
    return taints.map(taint => {
      const at = taint.timeAdded ? undefined : this.#firstSeen.get(node)?.get(taint.key ?? '')
      return at === undefined ? taint : { ...taint, timeAdded: new Date(at).toISOString() }
    })
  }

  async #evict(pod: Stored<Pod>): Promise<void> {
    const { client, clock, events } = this.runtime
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: timestamp(clock.now()),
    }
    const { uid } = pod.metadata
    events.record(pods, pod, {
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message: `Marking for deletion Pod ${keyOf(pod.metadata)}`,
      component: 'taint-eviction-controller',
    })
    try {
      const strategic = { metadata: { uid }, status: { conditions: [condition] } }
      await client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
      await client.delete(pods, pod.metadata, { preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function executing(taints: readonly Taint[] | undefined): readonly Taint[] {
  return taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

/** The time at which the pod is evicted; undefined if it tolerates these taints forever. */
export function evictionTime(pod: Pod, taints: readonly Taint[], now: number): number | undefined {
  let first: number | undefined
  for (const taint of taints) {
    const tolerations = (pod.spec?.tolerations ?? []).filter(toleration => tolerates(toleration, taint))
    if (tolerations.length === 0) return now
    const seconds = tolerations.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? [])
    if (seconds.length === 0) continue
    const since = taint.timeAdded ? Date.parse(taint.timeAdded) : now
    const at = since + Math.max(0, Math.min(...seconds)) * 1_000
    if (first === undefined || at < first) first = at
  }
  return first
}
