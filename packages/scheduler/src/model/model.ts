// SPDX-License-Identifier: Apache-2.0
import { portsConflict } from '../filters/host-ports.ts'
import { matchesNodeSelector, selectsNode } from '../filters/node-selector.ts'
import { keysReadBy, termSelects } from '../filters/pod-affinity.ts'
import { toleratesCordon, toleratesTaints } from '../filters/taints.ts'
import type { HostPort, NodeExclusion, Snapshot, SnapshotPod } from '../types.ts'
import { Partitions } from './partitions.ts'
import { type Shape, Shapes } from './shapes.ts'
import { type NodeUsage, usageOf } from './usage.ts'

/** Filters that a counterfactual leaves out. */
export type Relaxation = 'cordon' | 'taint' | 'ports' | 'affinity' | 'volume' | 'podCount' | 'boundPods'

/**
 * The nodes as the solver sees them: free resources in one array, filters as one byte for each shape and node. Pods of
 * this plan are placed and removed with `place` and `remove`; there is no copy of the cluster.
 */
export class Model {
  readonly snapshot: Snapshot
  readonly nodeCount: number
  readonly resources: string[] = []
  readonly free: Float64Array
  readonly partitions: Partitions
  readonly shapes: Shapes
  readonly nodeIndex: ReadonlyMap<string, number>
  readonly relaxed: ReadonlySet<Relaxation>
  /** Pods on each node, bound or placed by this plan. */
  readonly podsOn: Int32Array
  readonly #resourceIndexes = new Map<string, number>()
  readonly #ports: HostPort[][]
  readonly #allowed: (Uint8Array | undefined)[] = []
  readonly #conflicts = new Map<number, boolean>()
  /** Shapes placed by this plan on each node, for conflicts at node level. */
  readonly #placed: Map<number, number>[]
  readonly #hostnameIsUnique: boolean

  constructor(snapshot: Snapshot, relaxed: ReadonlySet<Relaxation> = new Set()) {
    this.snapshot = snapshot
    this.relaxed = relaxed
    this.nodeCount = snapshot.nodes.length
    this.partitions = new Partitions(snapshot.nodes)
    this.nodeIndex = new Map(snapshot.nodes.map(({ name }, index) => [name, index]))
    this.resourceIndex('pods')
    for (const { allocatable } of snapshot.nodes)
      for (const name of Object.keys(allocatable)) this.resourceIndex(name)
    const waiting = snapshot.gangs.flatMap(({ groups }) =>
      groups.flatMap(({ candidates, gated }) => [...candidates, ...gated]),
    )
    for (const { needs } of waiting) for (const name of Object.keys(needs.requests)) this.resourceIndex(name)
    const usage = usageOf(snapshot.boundPods)
    const labelKeys = [...new Set([...keysReadBy(waiting), ...usage.labelKeys])].sort()
    this.shapes = new Shapes(name => this.resourceIndex(name), labelKeys)
    this.free = new Float64Array(this.nodeCount * this.resources.length)
    this.podsOn = new Int32Array(this.nodeCount)
    this.#ports = snapshot.nodes.map(() => [])
    this.#placed = snapshot.nodes.map(() => new Map())
    snapshot.nodes.forEach(({ allocatable }, node) => {
      for (const [name, amount] of Object.entries(allocatable))
        this.free[this.#at(node, this.resourceIndex(name))] = amount
      if (relaxed.has('podCount'))
        this.free[this.#at(node, this.resourceIndex('pods'))] = Number.MAX_SAFE_INTEGER / 4
    })
    if (!relaxed.has('boundPods')) for (const [name, used] of usage.byNode) this.#hold(name, used)
    const hostnames = new Set(snapshot.nodes.map(({ labels }) => labels[hostnameKey]))
    this.#hostnameIsUnique = hostnames.size === this.nodeCount && !hostnames.has(undefined)
  }

  resourceIndex(name: string): number {
    const known = this.#resourceIndexes.get(name)
    if (known !== undefined) return known
    this.resources.push(name)
    this.#resourceIndexes.set(name, this.resources.length - 1)
    return this.resources.length - 1
  }

  #at(node: number, resource: number): number {
    return node * this.resources.length + resource
  }

  /** Requests of bound pods that no node lists are not tracked: no waiting pod competes for them. */
  #hold(name: string, used: NodeUsage): void {
    const node = this.nodeIndex.get(name)
    if (node === undefined) return
    this.podsOn[node]! += used.pods
    for (const [resourceName, amount] of used.amounts) {
      const resource = this.#resourceIndexes.get(resourceName)
      if (resource !== undefined) this.free[this.#at(node, resource)]! -= amount
    }
    this.#ports[node]!.push(...used.ports)
  }

  freeOf(node: number, resource: number): number {
    return this.free[this.#at(node, resource)]!
  }

  place(shape: Shape, node: number, count = 1): void {
    for (let i = 0; i < shape.resources.length; i++)
      this.free[this.#at(node, shape.resources[i]!)]! -= shape.amounts[i]! * count
    const placed = this.#placed[node]!
    placed.set(shape.id, (placed.get(shape.id) ?? 0) + count)
    if (placed.get(shape.id) === 0) placed.delete(shape.id)
    this.podsOn[node]! += count
  }

  remove(shape: Shape, node: number): void {
    this.place(shape, node, -1)
  }

  /** One byte for each node: no static filter rejects the shape. */
  allowed(shape: Shape): Uint8Array {
    let allowed = this.#allowed[shape.id]
    if (!allowed) {
      allowed = new Uint8Array(this.nodeCount)
      const rejectedByAffinity = this.#rejectedByPodAffinity(shape)
      for (let node = 0; node < this.nodeCount; node++)
        if (this.exclusion(shape, node, rejectedByAffinity) === undefined) allowed[node] = 1
      this.#allowed[shape.id] = allowed
    }
    return allowed
  }

  /** The first static filter that rejects the shape on the node. */
  exclusion(shape: Shape, node: number, rejectedByAffinity?: Uint8Array): NodeExclusion | undefined {
    const target = this.snapshot.nodes[node]!
    const { needs } = shape
    if (!this.relaxed.has('cordon') && !toleratesCordon(needs, target)) return 'cordon'
    if (!this.relaxed.has('taint') && !toleratesTaints(needs, target)) return 'taint'
    if (!selectsNode(needs, target)) return 'selector'
    if (
      !this.relaxed.has('volume') &&
      !needs.volumeSelectors.every(selector => matchesNodeSelector(selector, target))
    )
      return 'volume'
    if (!this.relaxed.has('ports') && portsConflict(needs.hostPorts, this.#ports[node]!)) return 'ports'
    if ((rejectedByAffinity ?? this.#rejectedByPodAffinity(shape))[node]) return 'affinity'
    return undefined
  }

  /** Returns the number of pods of the shape that fit on the node now. */
  capacity(shape: Shape, node: number): number {
    if (!this.allowed(shape)[node]) return 0
    let most = Number.MAX_SAFE_INTEGER
    for (let i = 0; i < shape.resources.length; i++) {
      const fits = Math.floor(this.freeOf(node, shape.resources[i]!) / shape.amounts[i]!)
      if (fits < most) most = fits
    }
    if (most <= 0) return 0
    for (const [other, count] of this.#placed[node]!)
      if (count > 0 && this.conflict(shape, this.shapes.all[other]!)) return 0
    return this.conflict(shape, shape) ? 1 : most
  }

  /** Two pods of these shapes cannot run on one node: host ports, or anti-affinity by hostname. */
  conflict(left: Shape, right: Shape): boolean {
    const key = left.id < right.id ? left.id * 65536 + right.id : right.id * 65536 + left.id
    let found = this.#conflicts.get(key)
    if (found === undefined) {
      found =
        (!this.relaxed.has('ports') && portsConflict(left.needs.hostPorts, right.needs.hostPorts)) ||
        (!this.relaxed.has('affinity') && (this.#repels(left, right) || this.#repels(right, left)))
      this.#conflicts.set(key, found)
    }
    return found
  }

  #repels(owner: Shape, other: Shape): boolean {
    const { namespaceLabels } = this.snapshot
    return owner.needs.podAntiAffinity.some(term => termSelects(term, owner, other, namespaceLabels))
  }

  /**
   * Names the field of a pod affinity rule that the solver cannot decide exactly. Such a rule depends on the placement
   * of other pending pods. Anti-affinity by hostname is decided exactly.
   */
  undecidable(shape: Shape, waiting: readonly Shape[]): string | undefined {
    const { needs } = shape
    const { namespaceLabels } = this.snapshot
    if (needs.spread.length > 0) return 'spec.topologySpreadConstraints'
    const selectsWaiting = (term: (typeof needs.podAffinity)[number]) =>
      waiting.some(other => termSelects(term, shape, other, namespaceLabels))
    if (needs.podAffinity.some(selectsWaiting)) return 'spec.affinity.podAffinity'
    const byHostname = (key: string) => key === hostnameKey && this.#hostnameIsUnique
    if (needs.podAntiAffinity.some(term => !byHostname(term.topologyKey) && selectsWaiting(term)))
      return 'spec.affinity.podAntiAffinity'
    return undefined
  }

  /** Rules against and towards bound pods are static: bound pods do not move. */
  #rejectedByPodAffinity(shape: Shape): Uint8Array {
    const rejected = new Uint8Array(this.nodeCount)
    if (this.relaxed.has('affinity') || this.relaxed.has('boundPods')) return rejected
    const { nodes, boundPods, namespaceLabels } = this.snapshot
    const { repelling } = usageOf(boundPods)
    const { podAffinity, podAntiAffinity } = shape.needs
    if (repelling.length + podAffinity.length + podAntiAffinity.length === 0) return rejected
    const bound = boundPods.filter(({ node }) => this.nodeIndex.has(node ?? ''))
    const domain = (node: number, key: string) => nodes[node]!.labels[key]
    const reject = (pod: SnapshotPod, key: string) => {
      const value = domain(this.nodeIndex.get(pod.node!)!, key)
      if (value === undefined) return
      for (let node = 0; node < this.nodeCount; node++) if (domain(node, key) === value) rejected[node] = 1
    }
    for (const pod of bound) {
      for (const term of pod.needs.podAntiAffinity)
        if (termSelects(term, pod, shape, namespaceLabels)) reject(pod, term.topologyKey)
      for (const term of shape.needs.podAntiAffinity)
        if (termSelects(term, shape, pod, namespaceLabels)) reject(pod, term.topologyKey)
    }
    if (podAffinity.length === 0) return rejected
    const towards = bound.filter(pod =>
      podAffinity.every(term => termSelects(term, shape, pod, namespaceLabels)),
    )
    const selectsItself = podAffinity.every(term => termSelects(term, shape, shape, namespaceLabels))
    for (const { topologyKey } of podAffinity) {
      const values = new Set(towards.map(pod => domain(this.nodeIndex.get(pod.node!)!, topologyKey)))
      values.delete(undefined)
      for (let node = 0; node < this.nodeCount; node++) {
        const value = domain(node, topologyKey)
        if (value === undefined || !(values.has(value) || (towards.length === 0 && selectsItself)))
          rejected[node] = 1
      }
    }
    return rejected
  }
}

const hostnameKey = 'kubernetes.io/hostname'
