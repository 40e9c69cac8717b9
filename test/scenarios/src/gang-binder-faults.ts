// SPDX-License-Identifier: Apache-2.0

// Runs of the gang scheduler on an API server without kubelets: it is killed, its requests fail, its watches are
// late, and another scheduler uses the same nodes. Checks the invariants after every write.
import assert from 'node:assert/strict'
import { label, type Pod, type PodGang } from '@grove/api'
import { createCluster, inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn, type Stored, type Transport, type TransportRequest } from '@grove/kube'
import { resources } from '@grove/operator'
import { defaultBindTimeoutMs, type RunningScheduler, startScheduler } from '@grove/scheduler'
import { ClaimedDevices } from './claimed-devices.ts'
import { installCustomResources } from './custom-kinds.ts'
import { nodes } from './gang-scheduler.ts'
import { seeded } from './seeded.ts'
import { SkippingClock } from './skipping-clock.ts'

const schedulerName = 'grove-scheduler'
const nodeNames = Array.from({ length: 7 }, (_, at) => `node-${at}`)

/** Every kind of write that the scheduler sends. */
export const writeKinds = ['gangStatus', 'binding', 'release', 'podStatus', 'claim', 'claimStatus'] as const
export type WriteKind = (typeof writeKinds)[number]

export function kindOf({ method, path }: TransportRequest): WriteKind | undefined {
  if (method === 'GET') return undefined
  if (path.includes('/binding')) return 'binding'
  if (path.includes('/resourceclaims/')) return path.includes('/status') ? 'claimStatus' : 'claim'
  if (path.includes('/podgangs/')) return 'gangStatus'
  return method === 'DELETE' ? 'release' : 'podStatus'
}

interface Shape {
  readonly name: string
  readonly min: number
  readonly pods: number
}

/** An API server with nodes, gangs and a stand-in for the operator that recreates deleted pods. */
export class FaultyCluster {
  readonly clock = new SkippingClock()
  readonly #cluster = createCluster({ clock: this.clock })
  readonly client: Client = createClientOn(inProcessTransport(this.#cluster.handle))
  readonly below: (limit: number) => number
  /** The scheduler notices a deadline in the cycle after it, and repeats a request that failed. */
  toleranceMs = 2_000
  /** Broken invariants. */
  readonly violations: string[] = []
  /** Kinds of writes that the schedulers sent. */
  readonly sent: WriteKind[] = []
  readonly #partialSince = new Map<string, number>()
  /** Gangs that had their minimum bound at one time and have kept a pod since. */
  readonly #hadMinimum = new Set<string>()
  readonly #emptySince = new Map<string, number>()
  /** Gangs that lost bound pods through other clients than the scheduler. */
  readonly #lostPods = new Set<string>()
  #shapes: readonly Shape[] = []
  #pods = 0

  /** Undefined if pods use no devices. */
  readonly #devices: ClaimedDevices | undefined

  /** With `devices`, every pod also has a resource claim for one device. */
  constructor(seed: number, devices = false) {
    this.below = seeded(seed)
    this.#devices = devices ? new ClaimedDevices(this.client) : undefined
  }

  async prepare(): Promise<void> {
    await installCustomResources(this.client)
    const amounts = { 'nvidia.com/gpu': '8', pods: '110', cpu: '64', memory: '64Gi' }
    for (const name of nodeNames) {
      const metadata = { name, labels: { 'kubernetes.io/hostname': name } }
      await this.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata })
      const status = { capacity: amounts, allocatable: amounts }
      await this.client.patch(nodes, { name }, { merge: { status } }, { subresource: 'status' })
      // A new node is tainted as not ready.
      await this.client.patch(nodes, { name }, { merge: { spec: { taints: null } } })
    }
    await this.#devices?.prepare(nodeNames)
    this.#shapes = ['first', 'second', 'third'].map(name => {
      const min = 2 + this.below(3)
      return { name, min, pods: min + this.below(2) }
    })
    for (const { name, min } of this.#shapes) {
      const gang = await this.client.create(resources.podGangs, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name, namespace: 'default', labels: { [label.schedulerName]: schedulerName } },
        spec: { podgroups: [{ name, podReferences: [], minReplicas: min }] },
      } as PodGang)
      const initialized = {
        type: 'Initialized',
        status: 'True',
        reason: 'Test',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }
      await this.client.patch(
        resources.podGangs,
        gang.metadata,
        { merge: { status: { phase: 'Pending', conditions: [initialized] } } },
        { subresource: 'status' },
      )
    }
    await this.actAsOperator()
  }

  /** Creates the missing pods and deletes rejected ones, as the operator does. */
  async actAsOperator(): Promise<void> {
    const pods = await this.pods()
    for (const { name, pods: wanted } of this.#shapes) {
      const own = pods.filter(({ metadata }) => metadata.labels?.[label.podGang] === name)
      for (const failed of own.filter(({ status }) => status?.phase === 'Failed'))
        await this.deletePod(failed)
      const live = own.filter(({ status }) => status?.phase !== 'Failed').length
      for (let at = live; at < wanted; at++)
        await this.#createPod(`${name}-${this.#pods++}`, {
          [label.podGang]: name,
          [label.podClique]: name,
          [label.podIndex]: String(at),
        })
    }
  }

  async #createPod(name: string, labels: Record<string, string>): Promise<void> {
    const isClaiming = this.#devices && labels[label.podGang]
    if (isClaiming) await this.#devices?.createClaim(name)
    await this.client.create(resources.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels },
      spec: {
        schedulerName: labels[label.podGang] ? schedulerName : 'other',
        terminationGracePeriodSeconds: 0,
        ...(isClaiming && { resourceClaims: [{ name: 'device', resourceClaimName: name }] }),
        containers: [
          {
            name: 'main',
            image: 'registry.example/main:1',
            resources: { limits: { 'nvidia.com/gpu': '8' } },
          },
        ],
      },
    } as unknown as Pod)
  }

  /** Binds a pod of a foreign scheduler to a node, whatever runs on it. */
  async takeNode(): Promise<void> {
    const name = `foreign-${this.#pods++}`
    await this.#createPod(name, { app: 'foreign' })
    await this.client.raw({
      verb: 'create',
      method: 'POST',
      path: `/api/v1/namespaces/default/pods/${name}/binding`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace: 'default' },
        target: { kind: 'Node', name: nodeNames[this.below(nodeNames.length)] },
      },
    })
  }

  /** Rejects the pods of gangs that do not fit next to foreign pods, like a kubelet. */
  async actAsKubelets(): Promise<void> {
    const pods = await this.pods()
    for (const [, same] of Map.groupBy(pods.filter(isBound), ({ spec }) => spec.nodeName)) {
      const ours = same.filter(({ metadata }) => metadata.labels?.[label.podGang])
      if (same.length < 2) continue
      for (const pod of ours) {
        this.#lostPods.add(pod.metadata.labels![label.podGang]!)
        await this.client.patch(
          resources.pods,
          pod.metadata,
          { merge: { status: { phase: 'Failed', reason: 'OutOfnvidia.com/gpu' } } },
          { subresource: 'status' },
        )
      }
    }
  }

  async pods(): Promise<Stored<Pod>[]> {
    return (await this.client.list(resources.pods, { namespace: 'default' })).items
  }

  async deletePod({ metadata, spec }: Stored<Pod>): Promise<void> {
    if (spec.nodeName) this.#lostPods.add(metadata.labels?.[label.podGang] ?? '')
    await this.client.delete(resources.pods, metadata, { gracePeriodSeconds: 0 })
  }

  async setCordons(unschedulable: boolean, names: readonly string[] = nodeNames): Promise<void> {
    for (const name of names) await this.client.patch(nodes, { name }, { merge: { spec: { unschedulable } } })
  }

  /** Starts a scheduler whose transport is wrapped. Every write is followed by a check. */
  async start(wrap: (inner: Transport) => Transport = inner => inner): Promise<RunningScheduler> {
    const inner = inProcessTransport(this.#cluster.handle)
    const checked: Transport = {
      ...inner,
      stream: request => inner.stream(request),
      close: () => inner.close(),
      request: async request => {
        const response = await inner.request(request)
        const kind = kindOf(request)
        if (kind) {
          this.sent.push(kind)
          await this.check()
        }
        return response
      },
    }
    return startScheduler(createClientOn(wrap(checked), { clock: this.clock }), { clock: this.clock })
  }

  /** Advances the clock by seconds. The operator, the kubelets and the scheduler work meanwhile. */
  async elapse(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.clock.skip(1_000)
      await this.actAsKubelets()
      await this.#devices?.release(await this.pods())
      await this.actAsOperator()
      await this.check()
    }
  }

  /** Invariants that hold at every moment. */
  async check(): Promise<void> {
    const pods = await this.pods()
    const live = pods.filter(pod => isBound(pod))
    if (this.#devices) this.violations.push(...(await this.#devices.violations(live)))
    const hasForeign = live.some(({ metadata }) => !metadata.labels?.[label.podGang])
    for (const [node, same] of Map.groupBy(live, ({ spec }) => spec.nodeName))
      if (same.length > 1 && !hasForeign)
        this.violations.push(`${node} holds ${same.map(({ metadata }) => metadata.name).join(', ')}`)
    for (const { name, min } of this.#shapes) {
      const count = live.filter(({ metadata }) => metadata.labels?.[label.podGang] === name).length
      if (count > 0) this.#emptySince.delete(name)
      else this.#emptySince.set(name, this.#emptySince.get(name) ?? this.clock.now())
      // A replacement that is bound while the last other pod is deleted belongs to the repaired gang.
      const emptyMs = this.clock.now() - (this.#emptySince.get(name) ?? this.clock.now())
      if (emptyMs > this.toleranceMs) this.#hadMinimum.delete(name)
      if (count >= min) this.#hadMinimum.add(name)
      if (count === 0 || count >= min || this.#mayKeepPods(name)) {
        this.#partialSince.delete(name)
        continue
      }
      const since = this.#partialSince.get(name) ?? this.clock.now()
      this.#partialSince.set(name, since)
      const ms = this.clock.now() - since
      if (ms > defaultBindTimeoutMs + this.toleranceMs)
        this.violations.push(`${name} is bound in part for ${ms} ms`)
    }
  }

  /** A gang that had its minimum bound and lost pods keeps the others, because they may be in use. */
  #mayKeepPods(gang: string): boolean {
    return this.#hadMinimum.has(gang) && this.#lostPods.has(gang)
  }

  /**
   * After faults have ended: every gang is bound as a whole or not at all, and some gang is bound. A gang that had its
   * minimum and lost pods is an exception while the missing pods do not fit. Every pod takes a whole node.
   */
  async assertWhole(title: string): Promise<void> {
    const live = (await this.pods()).filter(isBound)
    const counts = this.#shapes.map(({ name, min }) => ({
      name,
      min,
      bound: live.filter(({ metadata }) => metadata.labels?.[label.podGang] === name).length,
    }))
    const free = nodeNames.length - new Set(live.map(({ spec }) => spec.nodeName)).size
    assert.deepEqual(this.violations, [], title)
    for (const { name, min, bound } of counts)
      assert.ok(
        bound === 0 || bound >= min || (this.#mayKeepPods(name) && min - bound > free),
        `${title}: ${name} has ${bound} of ${min} pods bound, and ${free} nodes are free`,
      )
    assert.ok(
      counts.some(({ bound }) => bound > 0),
      `${title}: no gang is bound`,
    )
  }

  stop(): void {
    this.#cluster.stop()
  }
}

function isBound({ metadata, spec, status }: Stored<Pod>): boolean {
  return Boolean(spec.nodeName) && !metadata.deletionTimestamp && status?.phase !== 'Failed'
}
