// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import { portsConflict } from '../filters/host-ports.ts'
import { matchesNodeSelector, selectsNode } from '../filters/node-selector.ts'
import { keysReadBy, termSelects } from '../filters/pod-affinity.ts'
import { toleratesCordon, toleratesTaints } from '../filters/taints.ts'
import type { HostPort, NodeExclusion, PodNeeds, Snapshot, SnapshotPod } from '../types.ts'
import { Coupling } from './coupling.ts'
import { type Partition, type Partitions, partitionsOf } from './partitions.ts'
import { allNodes, ShapeRoom } from './shape-room.ts'
import { type Shape, Shapes } from './shapes.ts'
import { SharedClaims } from './shared-claims.ts'
import { columnsOf, type NodeIndex, nodeIndexOf, nodesBefore, noPods, rulesOf } from './usage.ts'

/** Filters that a counterfactual ignores. */
export type Relaxation =
  | 'cordon'
  | 'taint'
  | 'ports'
  | 'affinity'
  | 'volume'
  | 'claim'
  | 'podCount'
  | 'boundPods'

/**
 * The nodes as the solver sees them: free resources in one array, filters as one byte for each shape and node. Pods of
 * this plan are placed and removed with `place` and `remove`; there is no copy of the cluster.
 */
export class Model {
  readonly snapshot: Snapshot
  readonly nodeCount: number
  readonly resources: string[] = []
  readonly free: Float64Array
  /** Resources that `free` has a column for. */
  readonly #stride: number
  readonly partitions: Partitions
  readonly shapes: Shapes
  readonly nodeIndex: NodeIndex
  readonly relaxed: ReadonlySet<Relaxation>
  /** Columns of extended resources and of devices that claims ask for. */
  readonly #deviceResources: readonly number[]
  /** Pods on each node, bound or placed by this plan. */
  readonly podsOn: Int32Array
  readonly #resourceIndexes = new Map<string, number>()
  readonly #ports: readonly (readonly HostPort[])[]
  readonly #allowed: (Uint8Array | undefined)[] = []
  readonly #conflicts = new Map<number, boolean>()
  /** Shapes placed by this plan on each node, for conflicts at node level. Undefined if no two shapes can conflict. */
  readonly #placed: Map<number, number>[] | undefined
  /** Nodes in the order of their changes, so that readers recompute only what changed. */
  readonly #changes: number[] = []
  readonly #sharedClaims: SharedClaims
  readonly #rooms: (ShapeRoom | undefined)[] = []
  /** Some pending pod has a rule about other pods. */
  readonly #mayBeCoupled: boolean
  #coupling: Coupling | undefined
  #waiting: readonly Shape[] | undefined

  constructor(snapshot: Snapshot, relaxed: ReadonlySet<Relaxation> = new Set()) {
    this.snapshot = snapshot
    this.relaxed = relaxed
    this.nodeCount = snapshot.nodes.length
    this.partitions = partitionsOf(snapshot.nodes, nodesBefore(snapshot.nodes))
    this.nodeIndex = nodeIndexOf(snapshot.nodes)
    const bound = relaxed.has('boundPods') ? noPods : snapshot.boundPods
    const columns = columnsOf(snapshot.nodes, bound, this.nodeIndex)
    for (const name of columns.resources) this.resourceIndex(name)
    const waiting = distinctNeeds(snapshot)
    for (const { needs } of waiting) {
      for (const name in needs.requests) this.resourceIndex(name)
      for (const { devices } of needs.sharedClaims) for (const name in devices) this.resourceIndex(name)
    }
    const labelKeys = [...new Set([...keysReadBy(waiting), ...rulesOf(snapshot.boundPods).labelKeys])].sort()
    this.shapes = new Shapes(name => this.resourceIndex(name), labelKeys)
    this.#stride = this.resources.length
    this.free = widened(columns.free, this.nodeCount, columns.resources.length, this.#stride)
    this.#deviceResources = this.resources.flatMap((name, resource) => (isDevice(name) ? [resource] : []))
    this.resources.forEach((name, resource) => {
      if (relaxed.has('claim') && isDeviceResource(name)) this.#makeUnlimited(resource)
    })
    if (relaxed.has('podCount')) this.#makeUnlimited(0)
    this.#sharedClaims = new SharedClaims(this)
    this.podsOn = columns.podsOn.slice()
    this.#ports = columns.ports
    const hasRules = waiting.some(
      ({ needs }) => needs.podAffinity.length + needs.podAntiAffinity.length + needs.spread.length > 0,
    )
    this.#mayBeCoupled = hasRules && !relaxed.has('affinity')
    const mayConflict = hasRules || waiting.some(({ needs }) => needs.hostPorts.length > 0)
    this.#placed = mayConflict ? snapshot.nodes.map(() => new Map()) : undefined
  }

  #makeUnlimited(resource: number): void {
    for (let node = 0; node < this.nodeCount; node++)
      this.free[this.#at(node, resource)] = Number.MAX_SAFE_INTEGER / 4
  }

  resourceIndex(name: string): number {
    const known = this.#resourceIndexes.get(name)
    if (known !== undefined) return known
    this.resources.push(name)
    this.#resourceIndexes.set(name, this.resources.length - 1)
    return this.resources.length - 1
  }

  #at(node: number, resource: number): number {
    return node * this.#stride + resource
  }

  /** A resource that neither a node nor a pending pod names is free nowhere. */
  freeOf(node: number, resource: number): number {
    return resource < this.#stride ? this.free[this.#at(node, resource)]! : 0
  }

  /** Free devices of the node that pods of the shape do not use, over all kinds of devices. */
  idleDevices(shape: Shape, node: number): number {
    let sum = 0
    for (const resource of this.#deviceResources)
      if (!shape.resources.includes(resource)) sum += Math.max(this.free[this.#at(node, resource)]!, 0)
    return sum
  }

  place(shape: Shape, node: number, count = 1): void {
    for (let i = 0; i < shape.resources.length; i++)
      this.free[this.#at(node, shape.resources[i]!)]! -= shape.amounts[i]! * count
    if (this.#placed) {
      const placed = this.#placed[node]!
      placed.set(shape.id, (placed.get(shape.id) ?? 0) + count)
      if (placed.get(shape.id) === 0) placed.delete(shape.id)
    }
    this.podsOn[node]! += count
    this.#coupling?.changed(shape, node, count)
    this.#changes.push(node)
    if (shape.shared.length > 0 && !this.relaxed.has('claim')) {
      this.#sharedClaims.changed(shape, node, count)
      this.#changes.push(allNodes)
    }
  }

  /** Takes devices of a shared claim, or gives them back. */
  takeShared(node: number, resource: number, amount: number): void {
    this.free[this.#at(node, resource)]! -= amount
  }

  /** The room for pods of the shape on every node, as it is now. */
  roomOf(shape: Shape): ShapeRoom {
    let room = this.#rooms[shape.id]
    if (!room) {
      room = new ShapeRoom(this, shape)
      this.#rooms[shape.id] = room
    }
    room.refresh(this.#changes)
    return room
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
      const isChoosy = selectsByMore(shape.needs)
      const { nodes } = this.snapshot
      for (let node = 0; node < this.nodeCount; node++) {
        const { unschedulable, taints } = nodes[node]!
        // Most nodes are neither cordoned nor tainted, and most pods have no other filter.
        const isPlain = !isChoosy && !unschedulable && taints.length === 0 && !rejectedByAffinity[node]
        if (isPlain || this.exclusion(shape, node, rejectedByAffinity) === undefined) allowed[node] = 1
      }
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
    if (
      !this.relaxed.has('claim') &&
      !needs.claimSelectors.every(selector => matchesNodeSelector(selector, target))
    )
      return 'claim'
    if (!this.relaxed.has('ports') && portsConflict(needs.hostPorts, this.#ports[node]!)) return 'ports'
    if ((rejectedByAffinity ?? this.#rejectedByPodAffinity(shape))[node]) return 'affinity'
    return undefined
  }

  /** Returns the number of pods of the shape that fit on the node now. */
  capacity(shape: Shape, node: number): number {
    if (!this.allowed(shape)[node]) return 0
    let most = Number.MAX_SAFE_INTEGER
    const start = node * this.#stride
    const { resources, amounts } = shape
    for (let i = 0; i < resources.length; i++) {
      if (resources[i]! >= this.#stride) return 0
      const fits = Math.floor(this.free[start + resources[i]!]! / amounts[i]!)
      if (fits < most) most = fits
    }
    if (shape.shared.length > 0 && !this.relaxed.has('claim'))
      most = this.#sharedClaims.capacity(shape, node, most)
    if (most <= 0) return 0
    if (!this.#placed) return most
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

  #isOneNode(key: string): boolean {
    return key === hostnameKey && this.partitions.ofKey([], key).domains.length === this.nodeCount
  }

  #repels(owner: Shape, other: Shape): boolean {
    const { namespaceLabels } = this.snapshot
    // Rules over more than one node, or over nodes without the label, are checked by the search at node level.
    return owner.needs.podAntiAffinity.some(
      term => this.#isOneNode(term.topologyKey) && termSelects(term, owner, other, namespaceLabels),
    )
  }

  /** Rules between pods that are not bound yet. */
  get coupling(): Coupling {
    if (!this.#coupling) {
      this.#coupling = new Coupling(
        this.snapshot,
        this.nodeIndex,
        this.partitions,
        this.#waitingShapes(),
        (needs, node) =>
          (this.relaxed.has('taint') || toleratesTaints(needs, node)) &&
          (this.relaxed.has('cordon') || toleratesCordon(needs, node)),
      )
      this.#placed?.forEach((shapes, node) => {
        for (const [shape, count] of shapes) this.#coupling!.changed(this.shapes.all[shape]!, node, count)
      })
    }
    return this.#coupling
  }

  /** A rule or a claim between this shape and pods that are not bound yet needs a search at node level. */
  isCoupled(shape: Shape): boolean {
    if (shape.shared.length > 0 && !this.relaxed.has('claim')) return true
    return this.#mayBeCoupled && this.coupling.isCoupled(shape)
  }

  /** Rules between pods hold in this model. False also for a counterfactual without them. */
  get hasRules(): boolean {
    return this.#mayBeCoupled
  }

  /** Some pod, pending or bound, has a rule about other pods. */
  get readsOtherPods(): boolean {
    return this.#mayBeCoupled || rulesOf(this.snapshot.boundPods).repelling.length > 0
  }

  /** Partitions by the topology keys that rules of pending pods read. */
  rulePartitions(): Partition[] {
    const keys = this.#waitingShapes().flatMap(({ needs }) =>
      [...needs.podAffinity, ...needs.podAntiAffinity, ...needs.spread].map(({ topologyKey }) => topologyKey),
    )
    return [...new Set(keys)].map(key => this.partitions.ofKey([], key))
  }

  #waitingShapes(): readonly Shape[] {
    if (!this.#waiting) {
      const shapes = new Set<Shape>()
      for (const { groups } of this.snapshot.gangs)
        for (const { candidates, gated } of groups)
          for (const pods of [candidates, gated]) for (const pod of pods) shapes.add(this.shapes.of(pod))
      this.#waiting = [...shapes]
    }
    return this.#waiting
  }

  /** Rules against and towards bound pods are static, because bound pods do not move. */
  #rejectedByPodAffinity(shape: Shape): Uint8Array {
    const rejected = new Uint8Array(this.nodeCount)
    if (this.relaxed.has('affinity') || this.relaxed.has('boundPods')) return rejected
    const { nodes, boundPods, namespaceLabels } = this.snapshot
    const { repelling } = rulesOf(boundPods)
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
    // Affinity that pending pods may satisfy is checked by the search at node level.
    if (podAffinity.length === 0 || this.isCoupled(shape)) return rejected
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

/** Reports whether a filter other than cordon, taints and pod affinity may reject nodes for the pod. */
function selectsByMore(needs: PodNeeds): boolean {
  for (const _ in needs.nodeSelector) return true
  const { nodeAffinity, volumeSelectors, claimSelectors, hostPorts } = needs
  return nodeAffinity !== undefined || volumeSelectors.length + claimSelectors.length + hostPorts.length > 0
}

/** Names of extended resources have a domain, those of Kubernetes itself have none. */
function isDevice(resource: string): boolean {
  return resource.includes('/') || isDeviceResource(resource)
}

const hostnameKey = 'kubernetes.io/hostname'

/** Pending pods of the snapshot with different needs or labels: pods of one group are mostly equal. */
function distinctNeeds({ gangs }: Snapshot): SnapshotPod[] {
  const found = new Map<PodNeeds, SnapshotPod>()
  for (const { groups } of gangs)
    for (const { candidates, gated } of groups) {
      for (const pod of candidates) if (!found.has(pod.needs)) found.set(pod.needs, pod)
      for (const pod of gated) if (!found.has(pod.needs)) found.set(pod.needs, pod)
    }
  return [...found.values()]
}

/** A copy of the columns, with empty ones added. */
function widened(columns: Float64Array, rows: number, from: number, to: number): Float64Array {
  if (from === to) return columns.slice()
  const wide = new Float64Array(rows * to)
  for (let row = 0; row < rows; row++) wide.set(columns.subarray(row * from, (row + 1) * from), row * to)
  return wide
}
