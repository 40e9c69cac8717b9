// SPDX-License-Identifier: Apache-2.0

// The scheduling loop: caches → snapshot → plan → bindings and statuses. Every event leads to one cycle, and a cycle
// decides about all gangs. Bindings run concurrently with the loop: a pod counts as bound as soon as it has a node.
//
// Promised: the whole missing minimum of a gang is bound or, after a failed attempt, released. A gang is recorded as
// Starting before its first binding, so that users and the next leader see that it is being bound.
// Not promised: that a decision is carried out. Another scheduler may use the same node, or the pod may be deleted.
import {
  conditionType,
  type GangProgress,
  label,
  type Pod,
  type PodGang,
  type PodGangStatus,
  type ResourceClaim,
} from '@grove/api'
import { equalJson } from '@grove/apimachinery'
import {
  type Client,
  type Clock,
  Controller,
  createCachedClient,
  type Logger,
  type ReconcileResult,
  type Registry,
  type Stored,
} from '@grove/kube'
import { type WaitingSurplus, waitingSurplus } from '../explain/surplus.ts'
import { snapshotFrom } from '../snapshot/index.ts'
import type { Decision, GangDecision, Plan, PodBinding, Policy, Snapshot } from '../types.ts'
import { BindingAttempts } from './binding-attempts.ts'
import { BoundStatusDelay } from './bound-status-delay.ts'
import type { SchedulerCaches } from './caches.ts'
import { unusedClaims } from './claim-allocation.ts'
import { FormerNodes } from './former-nodes.ts'
import { bindingStatus, gangStatus, type Members, progressOf, timestamp } from './gang-status.ts'
import { type GangEvents, GangWrites } from './gang-writes.ts'
import { RejectedPods, type Rejection } from './rejected-pods.ts'
import { planRelease } from './release.ts'
import { Slots } from './slots.ts'
import { SurplusDelay } from './surplus-delay.ts'

/** Events arrive in bursts. One cycle handles all events that arrive within this time. */
const coalesceMs = 10
/**
 * A cycle decides about all gangs, so under a stream of events the next one begins after a multiple of the time that the
 * last one took. The scheduler then uses a fifth of a processor. The wait is bounded for clusters with long cycles.
 */
const restFactor = 4
const longestRestMs = 200
/** Bindings and writes of pod conditions in flight at once. */
const mostBindings = 64
const evictionRetryMs = 5_000

/** The facts about a gang that its status reports. */
interface Report {
  readonly decided: GangDecision | undefined
  /** The gang for which pods of this one are evicted. */
  readonly preemptor: string | undefined
  readonly surplus: readonly WaitingSurplus[]
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
  /** Receives every decision, for metrics. */
  readonly onDecision?: (decision: Decision) => void
  /** Receives every pod of this scheduler that a kubelet has rejected. */
  readonly onRejection?: (rejection: Rejection) => void
}

/** The writes of a cycle for one gang, and the time of the next look at the gang, in milliseconds since 1970. */
interface CarriedOut {
  readonly deadline?: number | undefined
  readonly written?: Promise<unknown>
}

type Key = 'cycle'

export class GangScheduler {
  readonly #options: GangSchedulerOptions
  readonly #surplusDelay = new SurplusDelay()
  readonly #statusDelay = new BoundStatusDelay()
  readonly #rejected = new RejectedPods()
  readonly #formerNodes = new FormerNodes()
  /** Of the last cycle: the next one computes only what has changed. */
  #snapshot: Snapshot | undefined
  /** Monotonic. */
  #restsUntil = 0
  readonly #attempts: BindingAttempts
  readonly #writes: GangWrites
  readonly #controller: Controller<Key>

  constructor(options: GangSchedulerOptions) {
    // Statuses name the cause. Fixes cost several plans each and are computed only when a user asks for them.
    this.#options = { ...options, policy: { ...options.policy, fixes: false } }
    const { caches, clock, log, registry } = options
    const slots = new Slots(mostBindings)
    // Without the responses of its writes, the next cycle would write the same statuses again, to meet a conflict.
    const client = createCachedClient(options.client)
    client.attach(caches.podGangs)
    client.attach(caches.pods)
    this.#writes = new GangWrites({ ...options, client, slots })
    this.#attempts = new BindingAttempts({ ...options, client, slots, onEnd: () => this.#enqueue() })
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
          return caches.onChange(() => this.#enqueue())
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
    await this.#attempts.stop()
  }

  #enqueue(): void {
    const restMs = this.#restsUntil - this.#options.clock.monotonic()
    this.#controller.queue.addNoLaterThanAfter('cycle', Math.max(coalesceMs, restMs))
  }

  async #cycle(signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { caches, clock, onDecision, schedulerName } = this.#options
    const now = clock.now()
    const startedAt = clock.monotonic()
    const decision = this.#decide(now)
    onDecision?.(decision)
    const members = membersByGang(caches.pods.list(), schedulerName)
    const decisions = new Map(decision.gangs.map(gang => [keyOf(gang), gang]))
    const due = this.#surplusDelay.due(decision, clock.monotonic())
    const bindings = Map.groupBy(due.bindings, ({ namespace, gang }) => keyOf({ namespace, name: gang }))
    const waits = [
      due.retryInMs,
      this.#attempts.msUntilExpiry(),
      this.#rejected.msUntilExpiry(clock.monotonic()),
    ]
    const deadlines = [decision.nextDeadline, ...waits.map(ms => ms && now + ms)]
    const waiting = Map.groupBy(
      waitingSurplus(this.#snapshot!, decision, this.#options.policy, now),
      ({ namespace, gang }) => keyOf({ namespace, name: gang }),
    )
    const preemptors = new Map(
      decision.evictions.flatMap(({ namespace, gang, preemptor }) =>
        gang === undefined ? [] : [[keyOf({ namespace, name: gang }), preemptor.name] as const],
      ),
    )
    // A PodDisruptionBudget may forbid an eviction for now, and no event says when it allows it.
    if (decision.evictions.length > 0) deadlines.push(now + evictionRetryMs)
    const writes: Promise<unknown>[] = [this.#writes.evict(decision.evictions, signal)]
    const isScaled = (gang: PodGang) => Number(decisions.get(keyOf(gang.metadata))?.baseGang !== undefined)
    // Attempts of base gangs begin first: scaled gangs wait for them.
    const gangs = caches.podGangs.list()
    this.#statusDelay.retain(new Set(gangs.map(({ metadata }) => metadata.uid)))
    for (const gang of gangs.sort((left, right) => isScaled(left) - isScaled(right))) {
      const key = keyOf(gang.metadata)
      const own = members.get(key) ?? new Map()
      // The pods of a terminating gang are deleted next.
      if (gang.metadata.deletionTimestamp || this.#attempts.has(key) || !this.#isOurs(gang, own)) continue
      const decided = decisions.get(key)
      const base = this.#baseOf(decided, members)
      const wanted = base ? (bindings.get(key) ?? []) : []
      const report = { decided, preemptor: preemptors.get(key), surplus: waiting.get(key) ?? [] }
      const { deadline, written } = this.#carryOut(gang, own, report, wanted, base, now, signal)
      deadlines.push(deadline)
      if (written) writes.push(written)
    }
    const endedAt = clock.monotonic()
    this.#restsUntil = endedAt + Math.min(longestRestMs, restFactor * (endedAt - startedAt))
    const failures = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
    if (failures.length)
      throw new AggregateError(
        failures.map(failure => (failure as PromiseRejectedResult).reason),
        `${failures.length} statuses could not be written`,
      )
    return deadlineOf(deadlines)
  }

  #decide(now: number): Decision {
    const { caches, clock, log, onRejection, plan, policy, schedulerName } = this.#options
    const objects = caches.objects()
    for (const rejection of this.#rejected.observe(objects.pods, schedulerName, clock.monotonic())) {
      log.warn('A kubelet rejected a pod; its gang avoids the node for 30 s', { ...rejection })
      onRejection?.(rejection)
    }
    const pods = this.#rejected.avoiding(objects.pods)
    const assumed = this.#attempts.assumed()
    const formerNodes = this.#formerNodes.observe(objects.pods, objects.podGangs, schedulerName)
    const previous = this.#snapshot
    // Gangs of other schedulers only hold resources, which their pods say.
    const podGangs = objects.podGangs.filter(gang => this.#isNamed(gang) !== false)
    this.#snapshot = snapshotFrom(
      {
        ...objects,
        pods,
        podGangs,
        resourceClaims: this.#attempts.claims.current(caches.resourceClaims.list()),
      },
      { schedulerName, assumed, formerNodes, ...(previous && { previous }) },
    )
    return plan(this.#snapshot, policy, now)
  }

  #isOurs(gang: PodGang, members: Members): boolean {
    return this.#isNamed(gang) ?? members.size > 0
  }

  /** Reports whether the gang names this scheduler; undefined if it names none. */
  #isNamed({ metadata }: PodGang): boolean | undefined {
    const named = metadata.labels?.[label.schedulerName]
    return named ? named === this.#options.schedulerName : undefined
  }

  /**
   * Resolves to true when the base gang of a scaled gang is bound. A decision may place both; the pods of the scaled gang
   * keep their nodes meanwhile. Undefined if the base gang is neither bound nor being bound.
   */
  #baseOf(
    decided: GangDecision | undefined,
    members: ReadonlyMap<string, Members>,
  ): Promise<boolean> | undefined {
    if (decided?.baseGang === undefined) return Promise.resolve(true)
    const ref = { namespace: decided.namespace, name: decided.baseGang }
    const running = this.#attempts.running(keyOf(ref))
    if (running) return running
    const base = this.#options.caches.podGangs.get(ref)
    return base && progressOf(base, this.#withConfirmed(members.get(keyOf(ref)) ?? new Map())).isBound
      ? Promise.resolve(true)
      : undefined
  }

  /** The members with a node also for pods whose binding the API server has accepted and the watch does not show yet. */
  #withConfirmed(members: Members): Members {
    const shown = (pod: Pod): Pod =>
      this.#attempts.isConfirmed(pod.metadata.uid ?? '')
        ? { ...pod, spec: { ...pod.spec, nodeName: pod.spec.nodeName ?? 'confirmed' } }
        : pod
    return new Map([...members].map(([name, pods]) => [name, pods.map(shown)]))
  }

  #carryOut(
    stored: Stored<PodGang>,
    members: Members,
    report: Report,
    bindings: readonly PodBinding[],
    base: Promise<boolean> | undefined,
    now: number,
    signal: AbortSignal,
  ): CarriedOut {
    const { decided } = report
    const gang = this.#statusDelay.withDelayed(stored)
    const pods = [...members.values()].flat()
    const progress = progressOf(gang, members)
    // The watch does not show every binding yet; until then nothing is known to report.
    if (pods.some(({ metadata }) => this.#attempts.isAssumed(metadata.uid ?? ''))) return {}
    const bound = pods.filter(pod => pod.spec.nodeName)
    const release = planRelease(gang, bound, progress, decided, this.#options.bindTimeoutMs, now)
    if (release.pods.length)
      return {
        written: Promise.all(release.pods.map(pod => this.#writes.release(pod as Stored<Pod>, signal))),
      }
    const unused = bindings.length ? [] : this.#unusedClaims(pods, decided)
    if (base && bindings.length)
      this.#bind(stored, bindingStatusOf(gang, progress, bindings), bindings, base, signal)
    // A decision without the allocations follows when the watch shows that they are gone.
    else if (unused.length) return { written: this.#attempts.claims.deallocate(unused, signal) }
    // Planned, but held back for its base gang: the attempt reports the next status.
    else if (progress.isBound || decided?.verdict !== 'Scheduled') {
      const { deadline, written } = this.#report(stored, gang, pods, progress, report, now, signal)
      return { deadline: release.deadline ?? deadline, ...(written && { written }) }
    }
    return { deadline: release.deadline }
  }

  /** Claims of pods for which the plan has no node. A blocked gang does not wait for nodes, so it keeps its claims. */
  #unusedClaims(pods: readonly Pod[], decided: GangDecision | undefined): Stored<ResourceClaim>[] {
    if (!decided || decided.verdict === 'Blocked') return []
    const withoutNode = new Set(decided.pods.flatMap(({ name, node }) => (node === null ? name : [])))
    const waiting = pods.filter(pod => !pod.spec.nodeName && withoutNode.has(pod.metadata.name))
    return unusedClaims(waiting, ref => this.#options.caches.resourceClaims.get(ref))
  }

  #bind(
    gang: Stored<PodGang>,
    status: ((now: number) => PodGangStatus) | undefined,
    bindings: readonly PodBinding[],
    base: Promise<boolean>,
    signal: AbortSignal,
  ): void {
    const { clock } = this.#options
    const record = async () => {
      if (!(await base)) return false
      return status ? this.#writeStatus(gang, status(clock.now()), signal) : true
    }
    const key = keyOf(gang.metadata)
    this.#attempts.begin(key, bindings, record, signal)
    void this.#attempts.running(key)?.then(isBound => {
      if (isBound) this.#statusDelay.recordBound(gang.metadata.uid, timestamp(clock.now()), clock.monotonic())
    })
  }

  /** `gang` is the stored object with its delayed status. */
  #report(
    stored: Stored<PodGang>,
    gang: PodGang,
    pods: readonly Pod[],
    progress: GangProgress,
    { decided, preemptor, surplus }: Report,
    now: number,
    signal: AbortSignal,
  ): CarriedOut {
    // The operator is about to report whether the gang is complete.
    const isNew = !gang.status?.conditions?.some(({ type }) => type === conditionType.podGangInitialized)
    if (isNew && !progress.hasBoundPods) return {}
    const { uid } = stored.metadata
    const status = gangStatus(gang, progress, decided, now, preemptor)
    const isSame = equalJson(stored.status, status)
    const waitMs =
      isSame || !progress.isBound || progress.isReady
        ? 0
        : this.#statusDelay.delayMs(uid, status, this.#options.clock.monotonic())
    if (waitMs > 0) return { deadline: now + waitMs }
    const writes: Promise<unknown>[] = []
    if (isSame) this.#statusDelay.clear(uid)
    else writes.push(this.#writeStatus(stored, status, signal))
    // Cluster autoscalers add nodes for pods with this condition. Nodes do not help a gang that is blocked.
    if (decided?.verdict === 'Unschedulable') {
      const waiting = pods.filter(pod => !pod.spec.nodeName && !pod.spec.schedulingGates?.length)
      writes.push(this.#writes.reportPods(waiting, decided.explanation?.message ?? '', now, signal))
    }
    for (const { pods: names, explanation } of surplus) {
      const waiting = pods.filter(({ metadata }) => names.includes(metadata.name))
      writes.push(this.#writes.reportPods(waiting, explanation.message, now, signal))
    }
    return writes.length ? { written: Promise.all(writes) } : {}
  }

  async #writeStatus(gang: Stored<PodGang>, status: PodGangStatus, signal: AbortSignal): Promise<boolean> {
    const isWritten = await this.#writes.writeStatus(gang, status, signal)
    if (isWritten) this.#statusDelay.clear(gang.metadata.uid)
    return isWritten
  }
}

/** The status to record before an attempt; undefined for one pod, which is bound or not. */
function bindingStatusOf(
  gang: PodGang,
  progress: GangProgress,
  bindings: readonly PodBinding[],
): ((now: number) => PodGangStatus) | undefined {
  const minimum = bindings.filter(({ part }) => part === 'minimum').length
  return minimum < 2 ? undefined : now => bindingStatus(gang, progress, minimum, now)
}

function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace ?? 'default'}/${name}`
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
    const key = keyOf({ ...(namespace && { namespace }), name: gang })
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
