// SPDX-License-Identifier: Apache-2.0

import { getScale, isNotFound, labelMatcher, type Scale, type Stored, setScale } from '@grove/kube'
import { changesOf, keyOf, refOf } from '../changes.ts'
import { type Verdict, withCondition } from '../conditions.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { KindResolver } from '../kind-resolver.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers, pods } from '../kinds.ts'
import { isActive } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { timestamp } from '../timestamp.ts'
import { type Evaluation, evaluateMetric, type Situation } from './metric-evaluation.ts'
import { type MetricsSource, SettableMetrics } from './metrics-source.ts'
import { limitScaling, longestMemoryMs, type Recommended, type Scaled } from './scaling-rules.ts'

export interface AutoscalerOptions {
  readonly metrics?: MetricsSource
  /** The interval between evaluations of the metrics. */
  readonly intervalMs?: number
}

const defaultIntervalMs = 15_000
const workers = 4

type Status = NonNullable<HorizontalPodAutoscaler['status']>
type Conditions = NonNullable<Status['conditions']>

interface Memory {
  recommended: Recommended[]
  scaled: Scaled[]
}

/** Scales any target with a scale subresource by the values of a metrics source. */
export class Autoscaler extends ControlLoop {
  readonly #metrics: MetricsSource
  readonly #intervalMs: number
  readonly #kinds: KindResolver
  readonly #memories = new Map<string, Memory>()

  constructor(runtime: Runtime, options: AutoscalerOptions = {}) {
    super('horizontal-pod-autoscaler', runtime, workers)
    const { caches, clock, client } = runtime
    this.#metrics = options.metrics ?? new SettableMetrics()
    this.#intervalMs = options.intervalMs ?? defaultIntervalMs
    this.#kinds = new KindResolver(client, clock)
    caches.require(pods)
    this.watch(
      changesOf(caches.of(horizontalPodAutoscalers), ({ old, new: autoscaler }) => {
        if (!autoscaler) this.#memories.delete(old.metadata.uid)
        const isOwnStatus =
          old &&
          old.metadata.generation === autoscaler?.metadata.generation &&
          sameStatus(old.metadata.annotations, autoscaler?.metadata.annotations)
        return autoscaler && !isOwnStatus ? [keyOf(autoscaler.metadata)] : []
      }),
    )
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const autoscaler = this.runtime.caches.of(horizontalPodAutoscalers).get(refOf(key))
    if (!autoscaler || autoscaler.metadata.deletionTimestamp) return undefined
    try {
      await this.#writeStatus(autoscaler, await this.#scale(autoscaler))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return { requeueAfter: this.#intervalMs }
  }

  async #scale(autoscaler: Stored<HorizontalPodAutoscaler>): Promise<Status> {
    const conditions = new Conditioned(autoscaler.status?.conditions ?? [], this.runtime.clock.now())
    const { apiVersion = '', kind = '', name = '' } = autoscaler.spec?.scaleTargetRef ?? {}
    const ref = { namespace: autoscaler.metadata.namespace ?? '', name }
    const resource = await this.#kinds.resolve(apiVersion, kind)
    const found = resource && (await this.#scaleOf(resource, ref))
    if (!found) {
      const why = resource
        ? `${resource.resource}.${resource.group} "${name}" not found`
        : `no matches for kind "${kind}" in group "${apiVersion.split('/')[0]}"`
      conditions.set(
        'AbleToScale',
        'False',
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${why}`,
      )
      return { ...autoscaler.status, conditions: conditions.list }
    }
    conditions.set(
      'AbleToScale',
      'True',
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    )
    const wanted = this.#desired(autoscaler, found, conditions)
    const current = found.spec?.replicas ?? 0
    const status: Status = {
      observedGeneration: autoscaler.metadata.generation,
      currentReplicas: found.status.replicas,
      desiredReplicas: wanted.replicas,
      ...(wanted.metrics && { currentMetrics: wanted.metrics }),
      ...(autoscaler.status?.lastScaleTime && { lastScaleTime: autoscaler.status.lastScaleTime }),
    }
    if (wanted.replicas === current) return { ...status, conditions: conditions.list }
    await setScale(this.runtime.client, resource, ref, wanted.replicas)
    conditions.set(
      'AbleToScale',
      'True',
      'SucceededRescale',
      `the HPA controller was able to update the target scale to ${wanted.replicas}`,
    )
    const isZero = wanted.replicas === 0
    conditions.set(
      'ScaledToZero',
      isZero ? 'True' : 'False',
      isZero ? 'ScaledToZero' : 'NotScaledToZero',
      `the HPA controller ${isZero ? 'scaled' : 'did not scale'} the workload to zero`,
    )
    this.#remember(autoscaler, wanted.replicas - current)
    this.runtime.events.record(horizontalPodAutoscalers, autoscaler, {
      type: 'Normal',
      reason: 'SuccessfulRescale',
      message: `New size: ${wanted.replicas}; reason: ${wanted.why}`,
      component: 'horizontal-pod-autoscaler',
    })
    return { ...status, lastScaleTime: timestamp(this.runtime.clock.now()), conditions: conditions.list }
  }

  async #scaleOf(resource: Parameters<typeof getScale>[1], ref: { namespace: string; name: string }) {
    try {
      return await getScale(this.runtime.client, resource, ref)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #desired(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    scale: Scale,
    conditions: Conditioned,
  ): { replicas: number; why: string; metrics?: Status['currentMetrics'] } {
    const current = scale.spec?.replicas ?? 0
    const { minReplicas = 1, maxReplicas = 1 } = autoscaler.spec ?? {}
    if (current === 0 && minReplicas !== 0) {
      conditions.set(
        'ScalingActive',
        'False',
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      )
      return { replicas: 0, why: '' }
    }
    if (current > maxReplicas)
      return { replicas: maxReplicas, why: 'Current number of replicas above Spec.MaxReplicas' }
    if (current < minReplicas)
      return { replicas: minReplicas, why: 'Current number of replicas below Spec.MinReplicas' }
    return this.#fromMetrics(autoscaler, scale, current, conditions)
  }

  #fromMetrics(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    scale: Scale,
    current: number,
    conditions: Conditioned,
  ): { replicas: number; why: string; metrics?: Status['currentMetrics'] } {
    if (!scale.status.selector) {
      conditions.set(
        'ScalingActive',
        'False',
        'InvalidSelector',
        "the HPA target's scale is missing a selector",
      )
      return { replicas: current, why: '' }
    }
    const selected = labelMatcher(scale.status.selector)
    const situation: Situation = {
      autoscaler,
      source: this.#metrics,
      pods: this.runtime.caches.pods
        .list(autoscaler.metadata.namespace)
        .filter(pod => isActive(pod) && selected(pod)),
      specReplicas: current,
      statusReplicas: scale.status.replicas,
    }
    const evaluations = (autoscaler.spec?.metrics ?? []).map(metric => evaluateMetric(metric, situation))
    const valid = evaluations.filter(each => each.ok)
    const failure = evaluations.find(each => !each.ok)
    const best = valid.reduce<Extract<Evaluation, { ok: true }> | undefined>(
      (top, each) => (!top || each.replicas > top.replicas ? each : top),
      undefined,
    )
    // A missing metric might recommend more replicas, so the target is not scaled down.
    if (!best || (failure && best.replicas < current)) {
      if (failure) conditions.set('ScalingActive', 'False', failure.reason, failure.message)
      return { replicas: current, why: '', metrics: valid.map(({ status }) => status) }
    }
    conditions.set(
      'ScalingActive',
      'True',
      'ValidMetricFound',
      `the HPA was able to successfully calculate a replica count from ${best.name}`,
    )
    const replicas = this.#limit(autoscaler, current, best.replicas, conditions)
    const why = best.replicas > current ? `${best.name} above target` : 'All metrics below target'
    return { replicas, why, metrics: valid.map(({ status }) => status) }
  }

  #limit(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    current: number,
    desired: number,
    conditions: Conditioned,
  ): number {
    const now = this.runtime.clock.now()
    const memory = this.#memoryOf(autoscaler, current, now)
    const limited = limitScaling(autoscaler, current, desired, memory.recommended, memory.scaled, now)
    memory.recommended.push({ at: now, replicas: desired })
    conditions.add(limited.ableToScale)
    conditions.add(limited.scalingLimited)
    return limited.replicas
  }

  #memoryOf(autoscaler: Stored<HorizontalPodAutoscaler>, current: number, now: number): Memory {
    const { uid } = autoscaler.metadata
    const known = this.#memories.get(uid) ?? { recommended: [{ at: now, replicas: current }], scaled: [] }
    this.#memories.set(uid, known)
    known.recommended = known.recommended.filter(({ at }) => now - at < longestMemoryMs)
    known.scaled = known.scaled.filter(({ at }) => now - at < longestMemoryMs)
    return known
  }

  #remember({ metadata: { uid } }: Stored<HorizontalPodAutoscaler>, change: number): void {
    this.#memories.get(uid)?.scaled.push({ at: this.runtime.clock.now(), change })
  }

  async #writeStatus(autoscaler: Stored<HorizontalPodAutoscaler>, status: Status): Promise<void> {
    if (sameStatus(status, autoscaler.status)) return
    await this.runtime.client.patch(
      horizontalPodAutoscalers,
      autoscaler.metadata,
      { merge: { status } },
      { subresource: 'status' },
    )
  }
}

/** Collects the conditions of the next status. */
class Conditioned {
  readonly #now: number
  #list: Conditions

  constructor(list: Conditions, now: number) {
    this.#list = list
    this.#now = now
  }

  get list(): Conditions {
    return this.#list
  }

  set(type: string, status: 'True' | 'False', reason: string, message: string): void {
    this.add({ type, status, reason, message })
  }

  add(verdict: Verdict): void {
    this.#list = [...withCondition(this.#list, verdict, this.#now)]
  }
}
