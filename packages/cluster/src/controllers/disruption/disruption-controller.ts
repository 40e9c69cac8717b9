// SPDX-License-Identifier: Apache-2.0

import { getScale, isConflict, isNotFound, type Stored } from '@grove/kube'
import { labelTest } from '../../scheduling/selector.ts'
import { changesOf, keyOf, ownChangesOf, refOf } from '../changes.ts'
import { withCondition } from '../conditions.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { KindResolver } from '../kind-resolver.ts'
import { deployments, type Pod, type PodDisruptionBudget, podDisruptionBudgets } from '../kinds.ts'
import { isActive, isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { allowance, needsControllers } from './allowance.ts'

const workers = 4
const coalesceMs = 20

/** Maintains the status of disruption budgets. The API server performs the eviction itself. */
export class DisruptionController extends ControlLoop {
  readonly #kinds: KindResolver

  constructor(runtime: Runtime) {
    super('disruption-controller', runtime, workers)
    const { caches, clock, client } = runtime
    this.#kinds = new KindResolver(client, clock)
    caches.require(deployments)
    this.watch(
      ownChangesOf(caches.of(podDisruptionBudgets)),
      changesOf(caches.pods, ({ old, new: pod }) => {
        if (old && pod && isReady(old) === isReady(pod) && isActive(old) === isActive(pod)) return []
        for (const key of this.#budgetsOf((pod ?? old)!)) this.enqueueAfter(key, coalesceMs)
        return []
      }),
      changesOf(caches.replicaSets, ({ old, new: set }) =>
        set && old?.spec?.replicas !== set.spec?.replicas
          ? caches
              .of(podDisruptionBudgets)
              .list(set.metadata.namespace)
              .map(({ metadata }) => keyOf(metadata))
          : [],
      ),
    )
  }

  #budgetsOf({ metadata }: Stored<Pod>): string[] {
    return this.runtime.caches
      .of(podDisruptionBudgets)
      .list(metadata.namespace)
      .filter(({ spec }) => labelTest(spec?.selector)(metadata.labels ?? {}))
      .map(budget => keyOf(budget.metadata))
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, client, clock } = this.runtime
    const budget = caches.of(podDisruptionBudgets).get(refOf(key))
    if (!budget || budget.metadata.deletionTimestamp) return undefined
    const test = labelTest(budget.spec?.selector)
    const pods = caches.pods
      .list(budget.metadata.namespace)
      .filter(({ metadata }) => test(metadata.labels ?? {}))
    const expected = needsControllers(budget) ? await this.#expected(pods) : pods.filter(isActive).length
    const { nextChange, ...counts } = allowance(budget, pods, expected, clock.now())
    const status = { ...counts, ...conditionsOf(budget, counts.disruptionsAllowed, clock.now()) }
    if (!sameStatus(status, budget.status)) await this.#write(client, budget, status)
    return nextChange === undefined ? undefined : { requeueAt: nextChange }
  }

  async #write(
    client: Runtime['client'],
    budget: Stored<PodDisruptionBudget>,
    status: PodDisruptionBudget['status'],
  ) {
    const { resourceVersion } = budget.metadata
    const gone = Object.keys(budget.status?.disruptedPods ?? {}).filter(
      name => !status?.disruptedPods?.[name],
    )
    const disruptedPods = { ...status?.disruptedPods, ...Object.fromEntries(gone.map(name => [name, null])) }
    try {
      // The eviction subresource decrements disruptionsAllowed. The resourceVersion prevents overwriting it.
      const merge = { metadata: { resourceVersion }, status: { ...status, disruptedPods } }
      await client.patch(podDisruptionBudgets, budget.metadata, { merge }, { subresource: 'status' })
    } catch (error) {
      if (isNotFound(error)) return
      if (!isConflict(error)) throw error
      this.enqueue(keyOf(budget.metadata))
    }
  }

  /** Returns the total replicas of the controllers of these pods. */
  async #expected(pods: readonly Stored<Pod>[]): Promise<number> {
    const wanted = new Map<string, number>()
    for (const { metadata } of pods) {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller)
      if (!owner || wanted.has(owner.uid)) continue
      wanted.set(owner.uid, await this.#wantedBy(metadata.namespace ?? '', owner))
    }
    return [...wanted.values()].reduce((sum, count) => sum + count, 0)
  }

  async #wantedBy(
    namespace: string,
    owner: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  ): Promise<number> {
    const { caches, client } = this.runtime
    if (owner.kind === 'ReplicaSet') {
      const set = caches.replicaSets.get({ namespace, name: owner.name })
      return set?.spec?.replicas ?? 0
    }
    const resource = await this.#kinds.resolve(owner.apiVersion, owner.kind)
    if (!resource?.subresources.includes('scale')) return 0
    try {
      const scale = await getScale(client, resource, { namespace, name: owner.name })
      return scale.spec?.replicas ?? 0
    } catch (error) {
      if (isNotFound(error)) return 0
      throw error
    }
  }
}

function conditionsOf(budget: Stored<PodDisruptionBudget>, allowed: number, now: number) {
  const verdict =
    allowed > 0
      ? ({ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '' } as const)
      : ({ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' } as const)
  const observedGeneration = budget.metadata.generation
  const conditions = withCondition(budget.status?.conditions, verdict, now, { observedGeneration })
  return {
    observedGeneration,
    conditions: conditions.map(condition => ({ ...condition, message: condition.message ?? '' })),
  }
}
