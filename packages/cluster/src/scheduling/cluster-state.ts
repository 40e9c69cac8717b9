// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../controllers/kinds.ts'
import { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import type { Labels } from './selector.ts'

/** The view of filters and scores. */
export interface ClusterView {
  readonly nodes: readonly NodeState[]
  node(name: string): NodeState | undefined
  /** Assigned pods, by namespace. */
  podsIn(namespace: string): Iterable<AssignedPod>
  readonly namespaces: Iterable<string>
  /** Nodes with pods that have required anti-affinity. */
  readonly nodesWithAntiAffinity: ReadonlySet<NodeState>
  /** Nodes with pods that have any affinity or anti-affinity. */
  readonly nodesWithAffinity: ReadonlySet<NodeState>
  namespaceLabels(namespace: string): Labels
}

export interface AssignedPod {
  readonly info: PodInfo
  readonly node: NodeState
}

const noLabels: Labels = {}

/**
 * The assigned pods and free resources of each node, updated incrementally. Pods of unknown nodes wait for
 * their node. Nodes are in the order in which their names first appeared.
 */
export class ClusterState implements ClusterView {
  readonly #byName = new Map<string, NodeState>()
  readonly #assigned = new Map<string, AssignedPod>()
  readonly #byNamespace = new Map<string, Map<string, AssignedPod>>()
  readonly #withoutNode = new Map<string, Map<string, PodInfo>>()
  readonly #namespaceLabels: (namespace: string) => Labels
  readonly nodesWithAntiAffinity = new Set<NodeState>()
  readonly nodesWithAffinity = new Set<NodeState>()
  #nodes: NodeState[] | undefined = []

  constructor(namespaceLabels: (namespace: string) => Labels = () => noLabels) {
    this.#namespaceLabels = namespaceLabels
  }

  get nodes(): readonly NodeState[] {
    this.#nodes ??= [...this.#byName.values()]
    return this.#nodes
  }

  get namespaces(): Iterable<string> {
    return this.#byNamespace.keys()
  }

  node(name: string): NodeState | undefined {
    return this.#byName.get(name)
  }

  *podsIn(namespace: string): Iterable<AssignedPod> {
    yield* this.#byNamespace.get(namespace)?.values() ?? []
  }

  namespaceLabels(namespace: string): Labels {
    return this.#namespaceLabels(namespace)
  }

  setNode(node: Node): void {
    const name = node.metadata?.name ?? ''
    const known = this.#byName.get(name)
    if (known) {
      known.setNode(node)
      return
    }
    const state = new NodeState(node)
    this.#byName.set(name, state)
    this.#nodes = undefined
    const waiting = this.#withoutNode.get(name)
    this.#withoutNode.delete(name)
    for (const info of waiting?.values() ?? []) this.#assign(info, state)
  }

  removeNode(name: string): void {
    const state = this.#byName.get(name)
    if (!state) return
    const pods = [...state.pods.values()]
    for (const info of pods) this.removePod(info.key)
    this.#byName.delete(name)
    this.#nodes = undefined
    for (const info of pods) this.setPod(info, name)
  }

  /** Adds a pod to a node, or replaces its older version. */
  setPod(info: PodInfo, nodeName: string): void {
    const assigned = this.#assigned.get(info.key)
    if (assigned?.info === info && assigned.node.name === nodeName) return
    this.removePod(info.key)
    const node = this.#byName.get(nodeName)
    if (node) this.#assign(info, node)
    else mapOf(this.#withoutNode, nodeName).set(info.key, info)
  }

  removePod(key: string): void {
    const assigned = this.#assigned.get(key)
    if (!assigned) {
      for (const [node, waiting] of this.#withoutNode)
        if (waiting.delete(key) && waiting.size === 0) this.#withoutNode.delete(node)
      return
    }
    const { info, node } = assigned
    node.remove(info)
    this.#assigned.delete(key)
    const pods = this.#byNamespace.get(info.namespace)
    pods?.delete(key)
    if (pods?.size === 0) this.#byNamespace.delete(info.namespace)
    this.#index(node)
  }

  assignmentOf(key: string): AssignedPod | undefined {
    return this.#assigned.get(key)
  }

  /** Evaluates a function as if these pods did not exist. The function must be synchronous. */
  without<T>(pods: readonly PodInfo[], evaluate: () => T): T {
    const assignments = pods
      .map(({ key }) => this.#assigned.get(key))
      .filter(assignment => assignment !== undefined)
    for (const { info } of assignments) this.removePod(info.key)
    try {
      return evaluate()
    } finally {
      for (const { info, node } of assignments) this.setPod(info, node.name)
    }
  }

  #assign(info: PodInfo, node: NodeState): void {
    const assigned = { info, node }
    node.add(info)
    this.#assigned.set(info.key, assigned)
    mapOf(this.#byNamespace, info.namespace).set(info.key, assigned)
    this.#index(node)
  }

  #index(node: NodeState): void {
    if (node.antiAffinityPods.size) this.nodesWithAntiAffinity.add(node)
    else this.nodesWithAntiAffinity.delete(node)
    if (node.affinityPods.size) this.nodesWithAffinity.add(node)
    else this.nodesWithAffinity.delete(node)
  }
}

/** Returns the map of a key, and creates it if needed. */
function mapOf<V>(maps: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = maps.get(key)
  if (known) return known
  const created = new Map<string, V>()
  maps.set(key, created)
  return created
}
