// SPDX-License-Identifier: Apache-2.0

// Computes periodically how many more copies of the present sets fit, and how fragmented the free capacity is. The
// numbers are those of `grove capacity`. The sets are computed one by one and for a bounded time per interval, because
// the computation blocks the scheduling loop. The next interval starts with the sets that were left out.
import { label, names, type Pod, type PodGang } from '@grove/api'
import { type Clock, gauge, type Logger, type Registry, type Stoppable } from '@grove/kube'
import { capacity } from '../capacity/index.ts'
import { withOwnClaims } from '../capacity/own-claims.ts'
import { compareText } from '../order.ts'
import { snapshotFrom } from '../snapshot/index.ts'
import type { Policy, SnapshotObjects } from '../types.ts'
import { schedulerCatalogue } from './metrics-catalogue.ts'

const intervalMs = 60_000
/** No set is started in an interval after this time. */
const budgetMs = 200
/** One label value per set. The limit keeps the number of series bounded. */
const mostSets = 20
const mostCopies = 100
/** The level that stands for all nodes. */
const cluster = 'cluster'

export interface CapacityMetricsOptions {
  readonly registry: Registry
  readonly clock: Clock
  readonly log: Logger
  readonly policy: Policy
  readonly schedulerName: string
  objects(): SnapshotObjects
}

export class CapacityMetrics implements Stoppable {
  readonly #options: CapacityMetricsOptions
  readonly #allocatable
  readonly #fragmentation
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** The set that the next interval begins with. */
  #next = 0
  readonly #measured = new Set<string>()

  constructor(options: CapacityMetricsOptions) {
    this.#options = { ...options, policy: { ...options.policy, fixes: false } }
    this.#allocatable = gauge(options.registry, schedulerCatalogue.allocatable)
    this.#fragmentation = gauge(options.registry, schedulerCatalogue.fragmentation)
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#running = this.#run(AbortSignal.any([signal, this.#stop.signal]))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!signal.aborted) {
      // One object that cannot be evaluated must not end the process.
      try {
        this.measure()
      } catch (error) {
        log.error('capacity metrics failed', { error })
      }
      await clock.sleep(intervalMs, signal).catch(() => {})
    }
  }

  /** Computes the gauges of as many sets as the time allows. */
  measure(): void {
    const { clock } = this.#options
    const objects = this.#options.objects()
    const gangs = firstGangs(objects)
    const present = new Set(gangs.map(({ set }) => set))
    if (!this.#measured.isSubsetOf(present)) {
      this.#allocatable.reset()
      this.#fragmentation.reset()
      this.#measured.clear()
    }
    const began = clock.monotonic()
    for (let done = 0; done < gangs.length && clock.monotonic() - began < budgetMs; done++) {
      this.#measureSet(objects, gangs[this.#next % gangs.length]!)
      this.#next = (this.#next + 1) % gangs.length
    }
  }

  #measureSet(objects: SnapshotObjects, { set, gang, pods }: FirstGang): void {
    const { policy, clock, schedulerName } = this.#options
    const own = withOwnClaims({ pods, resourceClaims: objects.resourceClaims ?? [] })
    const resourceClaims = [...(objects.resourceClaims ?? []), ...own.resourceClaims]
    const copy = { ...objects, pods: own.pods, podGangs: [gang], resourceClaims }
    const template = snapshotFrom(copy, { schedulerName, claimingPods: objects.pods }).gangs
    if (template.length === 0) return
    const snapshot = snapshotFrom({ ...objects, resourceClaims }, { schedulerName, claimingPods: own.pods })
    const found = capacity({ snapshot, template, most: mostCopies, policy, now: clock.now() })
    this.#measured.add(set)
    this.#allocatable.set({ set, level: cluster }, found.copies)
    for (const { level, domains } of found.slots) {
      const copies = domains.reduce((sum, domain) => sum + domain.copies, 0)
      this.#allocatable.set({ set, level }, copies)
    }
    const { resource, ratio } = found.fragmentation
    this.#fragmentation.set({ resource }, ratio)
  }
}

interface FirstGang {
  readonly set: string
  readonly gang: PodGang
  /** The pods of the gang as if none of them had a node or a gate. */
  readonly pods: readonly Pod[]
}

/** The base gang of the first replica of each set, in the order of their names, at most `mostSets`. */
function firstGangs({ podGangs, pods }: SnapshotObjects): FirstGang[] {
  const first = new Map<string, PodGang>()
  for (const gang of podGangs) {
    const { name, namespace, labels } = gang.metadata
    const set = labels?.[label.partOf]
    if (set && name === names.basePodGang(set, 0)) first.set(`${namespace}/${set}`, gang)
  }
  const byGang = Map.groupBy(
    pods,
    ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[label.podGang]}`,
  )
  return [...first]
    .sort(([one], [other]) => compareText(one, other))
    .slice(0, mostSets)
    .map(([set, gang]) => ({
      set,
      gang,
      pods: (byGang.get(`${gang.metadata.namespace}/${gang.metadata.name}`) ?? []).map(unplaced),
    }))
}

function unplaced({ status: _, ...pod }: Pod): Pod {
  const { nodeName: _node, schedulingGates: _gates, ...spec } = pod.spec
  return { ...pod, spec }
}
