// SPDX-License-Identifier: Apache-2.0

// The shadow mode: the scheduler plans the gangs of all schedulers as its own, writes nothing, and reports where and
// when it would have scheduled them. Users compare it with their present scheduler.
import { label, type PodGang } from '@grove/api'
import {
  type Clock,
  Controller,
  type Logger,
  type ReconcileResult,
  type Registry,
  type Stored,
} from '@grove/kube'
import type { SchedulerCaches } from '../binder/caches.ts'
import { snapshotFrom } from '../snapshot/index.ts'
import type { Decision, GangDecision, Plan, Policy, SnapshotObjects } from '../types.ts'
import { boundNodes, type ShadowReport, shadowReports } from './shadow-reports.ts'

/** Events arrive in bursts. One cycle handles all events that arrive within this time. */
const coalesceMs = 10

export interface ShadowSchedulerOptions {
  readonly caches: SchedulerCaches
  readonly clock: Clock
  readonly log: Logger
  readonly plan: Plan
  readonly policy: Policy
  readonly schedulerName: string
  readonly registry?: Registry
  readonly onDecision?: (decision: Decision) => void
  readonly onReport?: (report: ShadowReport) => void
}

export class ShadowScheduler {
  readonly #options: ShadowSchedulerOptions
  readonly #controller: Controller<'cycle'>
  /** The last report about a gang, by its UID. */
  #reported: ReadonlyMap<string, ShadowReport> = new Map()

  constructor(options: ShadowSchedulerOptions) {
    this.#options = { ...options, policy: { ...options.policy, fixes: false } }
    const { caches, clock, log, registry } = options
    this.#controller = new Controller({
      name: 'shadow-scheduler',
      workers: 1,
      clock,
      log,
      ...(registry && { registry }),
      reconcile: async () => this.#cycle(),
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

  async stop(): Promise<void> {
    await this.#controller.stop()
  }

  #cycle(): ReconcileResult | undefined {
    const { caches, clock, log, plan, policy, schedulerName, onDecision, onReport } = this.#options
    const now = clock.now()
    const objects = asOurs(caches.objects(), schedulerName)
    const decision = plan(snapshotFrom(objects, { schedulerName }), policy, now)
    onDecision?.(decision)
    const decided = new Map(decision.gangs.map(gang => [`${gang.namespace}/${gang.name}`, gang]))
    const next = new Map<string, ShadowReport>()
    for (const gang of caches.podGangs.list()) {
      const before = this.#reported.get(gang.metadata.uid)
      const report = this.#reportFor(gang, objects, decided, before, now)
      if (!report) continue
      next.set(gang.metadata.uid, report)
      if (report === before) continue
      log.info(shadowReports[report.kind], { ...report })
      onReport?.(report)
    }
    this.#reported = next
    return decision.nextDeadline === undefined ? undefined : { requeueAt: decision.nextDeadline }
  }

  /** The report about the gang; the former one if nothing has changed. */
  #reportFor(
    gang: Stored<PodGang>,
    objects: SnapshotObjects,
    decided: ReadonlyMap<string, GangDecision>,
    before: ShadowReport | undefined,
    now: number,
  ): ShadowReport | undefined {
    const { name, namespace = 'default', labels } = gang.metadata
    const decision = decided.get(`${namespace}/${name}`)
    if (!decision) return before
    const about = { gang: `${namespace}/${name}`, scheduler: labels?.[label.schedulerName] ?? '' }
    const bound = boundNodes(gang, objects.pods)
    if (bound) {
      if (before?.kind === 'scheduledByOther') return before
      const plannedAt = before?.kind === 'wouldSchedule' ? before.at : undefined
      return {
        ...about,
        kind: 'scheduledByOther',
        at: now,
        nodes: bound,
        ...(plannedAt !== undefined && { afterMs: now - plannedAt }),
        ...(before?.kind === 'wouldSchedule' && { sameNodes: String(before.nodes) === String(bound) }),
      }
    }
    if (decision.verdict === 'Scheduled') {
      // The other scheduler may take long. The first decision counts, because a binding could not be changed either.
      if (before?.kind === 'wouldSchedule') return before
      const nodes = decision.pods
        .flatMap(({ node, part }) => (node && part === 'minimum' ? [node] : []))
        .sort()
      const score = decision.placementScore
      return { ...about, kind: 'wouldSchedule', at: now, nodes, ...(score !== undefined && { score }) }
    }
    const { code = 'NotYetEvaluated', message = '' } = decision.explanation ?? {}
    if (before?.kind === 'wouldWait' && before.code === code) return before
    return { ...about, kind: 'wouldWait', at: now, code, message }
  }
}

/** The objects with the pods of all gangs as pods of this scheduler. */
function asOurs(objects: SnapshotObjects, schedulerName: string): SnapshotObjects {
  const pods = objects.pods.map(pod =>
    pod.metadata.labels?.[label.podGang] && pod.spec.schedulerName !== schedulerName
      ? { ...pod, spec: { ...pod.spec, schedulerName } }
      : pod,
  )
  return { ...objects, pods }
}
