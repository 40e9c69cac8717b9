// SPDX-License-Identifier: Apache-2.0

// Records when each tenant's set reaches each step, so that a slow set shows which step was late: admission, the
// operator, the scheduler, the nodes or the statuses.
import { label, operatorName, type Pod, type PodCliqueSet } from '@grove/api'
import { type Client, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'

export const steps = [
  'admitted',
  'pods created',
  'gates removed',
  'pods scheduled',
  'pods ready',
  'set available',
] as const
export type Step = (typeof steps)[number]
/** Seconds from the creation request until the step. */
export type Trace = Readonly<Record<Step, number>>

interface Tenant {
  readonly since: number
  readonly pods: Map<string, readonly Step[]>
  readonly reached: Map<Step, number>
}

export class Steps {
  readonly #podsPerSet: number
  readonly #tenants = new Map<string, Tenant>()
  readonly #abort = new AbortController()

  constructor(podsPerSet: number) {
    this.#podsPerSet = podsPerSet
  }

  async start(client: Client): Promise<this> {
    const sets = new WatchCache<PodCliqueSet>(client, resources.podCliqueSets, {})
    const pods = new WatchCache<Pod>(client, resources.pods, {
      labelSelector: `${label.managedBy}=${operatorName}`,
    })
    sets.onChange(change => {
      const { metadata, status } = change.new ?? {}
      if (status?.availableReplicas === 1) this.#reach(metadata?.namespace, 'set available')
    })
    pods.onChange(change => {
      const tenant = change.new && this.#tenants.get(change.new.metadata.namespace ?? '')
      if (!tenant) return
      tenant.pods.set(change.new.metadata.name, stepsOf(change.new))
      for (const step of ['pods created', 'gates removed', 'pods scheduled', 'pods ready'] as const) {
        const reached = tenant.pods.values().filter(of => of.includes(step))
        if (reached.toArray().length === this.#podsPerSet) this.#reach(change.new.metadata.namespace, step)
      }
    })
    for (const cache of [sets, pods]) void cache.run(this.#abort.signal)
    await Promise.all([sets.waitForSync(), pods.waitForSync()])
    return this
  }

  stop(): void {
    this.#abort.abort()
  }

  /** The creation request of the tenant's set is about to be sent. */
  begin(namespace: string): void {
    this.#tenants.set(namespace, { since: performance.now(), pods: new Map(), reached: new Map() })
  }

  admitted(namespace: string): void {
    this.#reach(namespace, 'admitted')
  }

  /** The number of sets that are available. */
  get complete(): number {
    return this.#tenants.values().filter(isComplete).toArray().length
  }

  /** Returns the traces since the last call. */
  take(): Trace[] {
    const traces = this.#tenants
      .values()
      .filter(isComplete)
      .map(({ reached }) => Object.fromEntries(steps.map(step => [step, reached.get(step) ?? 0])) as Trace)
      .toArray()
    this.#tenants.clear()
    return traces
  }

  #reach(namespace: string | undefined, step: Step): void {
    const tenant = this.#tenants.get(namespace ?? '')
    if (tenant && !tenant.reached.has(step))
      tenant.reached.set(step, (performance.now() - tenant.since) / 1000)
  }
}

/** The mean duration of each step, of the slowest share of sets. */
export function slowestSteps(traces: readonly Trace[], slowest: number): Readonly<Record<Step, number>> {
  const from = share(
    traces.map(trace => trace['set available']),
    1 - slowest,
  )
  const slow = traces.filter(trace => trace['set available'] >= from)
  return Object.fromEntries(
    steps.map((step, at) => {
      const durations = slow.map(trace => Math.max(0, trace[step] - (at ? trace[steps[at - 1]!] : 0)))
      return [step, durations.reduce((sum, each) => sum + each, 0) / slow.length]
    }),
  ) as Record<Step, number>
}

/** The value that this share of the values does not exceed: 0.5 is the median. */
export function share(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function isComplete({ reached }: Tenant): boolean {
  return reached.has('set available') && reached.has('admitted')
}

function stepsOf({ spec, status }: Pod): readonly Step[] {
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  return [
    'pods created',
    ...(spec.schedulingGates?.length ? [] : ['gates removed' as const]),
    ...(spec.nodeName ? ['pods scheduled' as const] : []),
    ...(isReady ? ['pods ready' as const] : []),
  ]
}
