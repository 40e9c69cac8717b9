// SPDX-License-Identifier: Apache-2.0

// The scheduling loop: caches → snapshot → plan → bindings and statuses. Every event leads to one cycle, and a cycle
// decides about all gangs. Bindings run concurrently with the loop: a pod counts as bound as soon as it has a node.
//
// Promised: the whole missing minimum of a gang is bound or, after a failed attempt, released. A gang is recorded as
// Starting before its first binding, so that the next leader finds a gang that is bound in part.
// Not promised: that a decision is carried out. Another scheduler may use the same node, or the pod may be deleted.
import { label, type Pod, type PodGang } from '@grove/api'
import {
  bindPod,
  type Client,
  type Clock,
  Controller,
  isConflict,
  isNotFound,
  type Logger,
  type ReconcileResult,
  type Registry,
  type Stored,
} from '@grove/kube'
import { snapshotFrom } from '../snapshot/index.ts'
import type { Decision, GangDecision, Plan, PodBinding, Policy } from '../types.ts'
import { AssumedPods } from './assumed-pods.ts'
import type { SchedulerCaches } from './caches.ts'
import { bindingStatus, type GangProgress, gangStatus, type Members, progressOf } from './gang-status.ts'
import { planRelease } from './release.ts'
import { resources } from './resources.ts'
import { Slots } from './slots.ts'
import { SurplusDelay } from './surplus-delay.ts'
import { unschedulablePatch } from './unschedulable-pods.ts'

/** Events arrive in bursts. One cycle handles all events that arrive within this time. */
const coalesceMs = 10
/** Bindings in flight at once. */
const mostBindings = 64
/** Reads of a pod whose binding response was lost, and the wait between two reads. */
const outcomeAttempts = 5
const outcomeWaitMs = 1_000

export interface GangEvents {
  emit(gang: Stored<PodGang>, event: { type: 'Normal' | 'Warning'; reason: string; message: string }): void
}

export interface GangSchedulerOptions {
  readonly client: Client
  readonly caches: SchedulerCaches
  readonly clock: Clock
  readonly log: Logger
  readonly plan: Plan
  readonly policy: Policy
  readonly schedulerName: string
  /** A gang that is bound in part for longer than this is released. */
  readonly bindTimeoutMs: number
  readonly events?: GangEvents
  readonly registry?: Registry
  /** Receives every decision, for metrics and for the shadow mode. */
  readonly onDecision?: (decision: Decision) => void
  /** Decide and report, but write nothing. */
  readonly dryRun?: boolean
}

type Key = 'cycle'

export class GangScheduler {
  readonly #options: GangSchedulerOptions
  readonly #assumed = new AssumedPods()
  readonly #surplusDelay = new SurplusDelay()
  readonly #slots = new Slots(mostBindings)
  /** Gangs whose attempt runs, by namespace and name. */
  readonly #attempts = new Map<string, Promise<void>>()
  readonly #controller: Controller<Key>

  constructor(options: GangSchedulerOptions) {
    // Statuses name the cause. Fixes cost several plans each and are computed only when a user asks for them.
    this.#options = { ...options, policy: { ...options.policy, fixes: false } }
    const { caches, clock, log, registry } = options
    this.#controller = new Controller<Key>({
      name: 'gang-scheduler',
      workers: 1,
      clock,
      log,
      ...(registry && { registry }),
      reconcile: (_, { signal }) => this.#cycle(signal),
      sources: [
        enqueue => {
          enqueue('cycle')
          return caches.onChange(() => this.#controller.queue.addNoLaterThanAfter('cycle', coalesceMs))
        },
      ],
    })
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#controller.start(signal)
  }

  /** Lets bindings that are in flight finish. */
  async stop(): Promise<void> {
    await this.#controller.stop()
    await Promise.all(this.#attempts.values())
  }

  async #cycle(signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { caches, clock, plan, policy, schedulerName, onDecision, dryRun } = this.#options
    const now = clock.now()
    const assumed = this.#assumed.current(pod => caches.pods.get(pod))
    const decision = plan(snapshotFrom(caches.objects(), { schedulerName, assumed }), policy, now)
    onDecision?.(decision)
    if (dryRun) return deadlineOf([decision.nextDeadline])
    const members = membersByGang(caches.pods.list(), schedulerName)
    const decisions = new Map(decision.gangs.map(gang => [`${gang.namespace}/${gang.name}`, gang]))
    const due = this.#surplusDelay.due(decision, clock.monotonic())
    const bindings = Map.groupBy(due.bindings, ({ namespace, gang }) => `${namespace}/${gang}`)
    const deadlines = [decision.nextDeadline, due.retryInMs && now + due.retryInMs]
    const writes: Promise<unknown>[] = []
    for (const gang of caches.podGangs.list()) {
      const key = `${gang.metadata.namespace}/${gang.metadata.name}`
      const own = members.get(key) ?? new Map()
      if (this.#attempts.has(key) || !this.#isOurs(gang, own)) continue
      const progress = progressOf(gang, own)
      const wanted = bindings.get(key)
      if (wanted?.length) this.#begin(key, gang, progress, wanted, signal)
      else {
        const result = this.#report(gang, own, progress, decisions.get(key), now, signal)
        deadlines.push(result.deadline)
        writes.push(result.written)
      }
    }
    const failures = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
    if (failures.length)
      throw new AggregateError(
        failures.map(failure => (failure as PromiseRejectedResult).reason),
        `${failures.length} statuses could not be written`,
      )
    return deadlineOf(deadlines)
  }

  #isOurs({ metadata }: Stored<PodGang>, members: Members): boolean {
    const named = metadata.labels?.[label.schedulerName]
    return named ? named === this.#options.schedulerName : members.size > 0
  }

  /** Assumes the pods at once, and binds them concurrently with the loop. */
  #begin(
    key: string,
    gang: Stored<PodGang>,
    progress: GangProgress,
    bindings: readonly PodBinding[],
    signal: AbortSignal,
  ): void {
    for (const binding of bindings) this.#assumed.assume(binding)
    const attempt = this.#attempt(gang, progress, bindings, signal)
      .catch(error => {
        for (const { uid } of bindings) this.#assumed.forget(uid)
        this.#options.log.warn('could not begin to bind a gang, trying again', { gang: key, error })
      })
      .finally(() => {
        this.#attempts.delete(key)
        this.#controller.queue.addNoLaterThanAfter('cycle', coalesceMs)
      })
    this.#attempts.set(key, attempt)
  }

  async #attempt(
    gang: Stored<PodGang>,
    progress: GangProgress,
    bindings: readonly PodBinding[],
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#options
    const minimum = bindings.filter(({ part }) => part === 'minimum')
    // One pod is bound or not: only several pods can be bound in part.
    if (minimum.length > 1)
      await this.#writeStatus(gang, bindingStatus(gang, progress, minimum.length, clock.now()), signal)
    let isEnded = false
    const bindOne = async (binding: PodBinding) => {
      if (isEnded || signal.aborted) return this.#assumed.forget(binding.uid)
      if (await this.#bind(binding, signal)) return
      if (binding.part === 'minimum') isEnded = true
    }
    await Promise.all(bindings.map(binding => this.#slots.run(() => bindOne(binding))))
    if (isEnded)
      log.warn('a binding of a gang failed; the gang is completed or released', {
        gang: `${gang.metadata.namespace}/${gang.metadata.name}`,
      })
  }

  /** Returns whether the pod is bound to the node. */
  async #bind({ namespace, pod: name, uid, node }: PodBinding, signal: AbortSignal): Promise<boolean> {
    const { client, log } = this.#options
    try {
      await bindPod(client, { namespace, name }, node, { uid, signal })
      return true
    } catch (error) {
      const isBound = isNotFound(error) ? false : await this.#isBoundTo({ namespace, name }, uid, node)
      if (isBound) return true
      this.#assumed.forget(uid)
      if (!isNotFound(error) && !isConflict(error))
        log.warn('could not bind a pod', { pod: `${namespace}/${name}`, node, error })
      return false
    }
  }

  /** A response that was lost says nothing about the outcome; the room of a pod that may be bound stays taken. */
  async #isBoundTo(ref: { namespace: string; name: string }, uid: string, node: string): Promise<boolean> {
    const { client, clock } = this.#options
    for (let attempt = 1; attempt <= outcomeAttempts; attempt++)
      try {
        const pod = await client.find(resources.pods, ref)
        return pod?.metadata.uid === uid && pod.spec.nodeName === node
      } catch {
        await clock.sleep(outcomeWaitMs)
      }
    return false
  }

  #report(
    gang: Stored<PodGang>,
    members: Members,
    progress: GangProgress,
    decision: GangDecision | undefined,
    now: number,
    signal: AbortSignal,
  ): { readonly deadline: number | undefined; readonly written: Promise<unknown> } {
    const pods = [...members.values()].flat()
    const bound = pods.filter(pod => pod.spec.nodeName)
    const { bindTimeoutMs } = this.#options
    const release = planRelease(gang, bound, progress, decision, bindTimeoutMs, now)
    const status = gangStatus(gang, progress, decision, now)
    const waiting = decision && decision.verdict !== 'Scheduled' ? decision.explanation : undefined
    const written = Promise.all([
      this.#writeStatus(gang, status, signal),
      ...release.pods.map(pod => this.#delete(pod as Stored<Pod>, signal)),
      ...(waiting
        ? pods
            .filter(pod => !pod.spec.nodeName && !pod.spec.schedulingGates?.length)
            .map(pod =>
              this.#slots.run(() => this.#reportPod(pod as Stored<Pod>, waiting.message, now, signal)),
            )
        : []),
    ])
    return { deadline: release.deadline, written }
  }

  async #writeStatus(
    gang: Stored<PodGang>,
    status: NonNullable<PodGang['status']>,
    signal: AbortSignal,
  ): Promise<void> {
    if (JSON.stringify(gang.status) === JSON.stringify(status)) return
    const { client, events } = this.#options
    const { uid, resourceVersion, name, namespace = '' } = gang.metadata
    try {
      await client.patch(
        resources.podGangs,
        { namespace, name },
        { merge: { metadata: { uid, resourceVersion }, status } },
        { subresource: 'status', signal },
      )
      const before = scheduledReason(gang.status)
      const after = scheduledReason(status)
      if (events && after && after.reason !== before?.reason && after.reason !== 'Binding')
        events.emit(gang, {
          type: after.status === 'True' ? 'Normal' : 'Warning',
          reason: after.status === 'True' ? 'GangScheduled' : 'GangUnschedulable',
          message: after.message,
        })
    } catch (error) {
      // A newer version of the gang is on its way through the watch and leads to the next cycle.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  async #delete({ metadata }: Stored<Pod>, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    const { name, namespace = '', uid } = metadata
    log.info('releasing a pod of a gang that does not fit as a whole', { pod: `${namespace}/${name}` })
    try {
      await client.delete(resources.pods, { name, namespace }, { preconditions: { uid }, signal })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  async #reportPod(pod: Stored<Pod>, message: string, now: number, signal: AbortSignal): Promise<void> {
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

function scheduledReason(status: PodGang['status']) {
  return status?.conditions?.find(({ type }) => type === 'Scheduled')
}

/** Live pods of this scheduler, by gang and by group. */
function membersByGang(pods: readonly Pod[], schedulerName: string): Map<string, Map<string, Pod[]>> {
  const gangs = new Map<string, Map<string, Pod[]>>()
  for (const pod of pods) {
    const { namespace, labels, deletionTimestamp } = pod.metadata
    const gang = labels?.[label.podGang]
    const clique = labels?.[label.podClique]
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (!gang || !clique || deletionTimestamp || isOver || pod.spec.schedulerName !== schedulerName) continue
    const key = `${namespace}/${gang}`
    const groups = gangs.get(key) ?? new Map<string, Pod[]>()
    gangs.set(key, groups)
    const members = groups.get(clique)
    if (members) members.push(pod)
    else groups.set(clique, [pod])
  }
  return gangs
}

function deadlineOf(deadlines: readonly (number | undefined)[]): ReconcileResult | undefined {
  const known = deadlines.filter(deadline => deadline !== undefined)
  return known.length ? { requeueAt: Math.min(...known) } : undefined
}
