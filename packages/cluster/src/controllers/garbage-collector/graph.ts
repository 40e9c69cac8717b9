// SPDX-License-Identifier: Apache-2.0

import type { Change, DiscoveredResource, KubeObject, OwnerReference, Stored } from '@grove/kube'

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

/** The part of an object that the garbage collector needs. */
export interface GraphNode {
  readonly uid: string
  readonly resource: DiscoveredResource
  readonly namespace: string | undefined
  readonly name: string
  readonly resourceVersion: string
  readonly owners: readonly OwnerReference[]
  readonly finalizers: readonly string[]
  readonly beingDeleted: boolean
}

/** In foreground deletion: waits for the deletion of its dependents. */
export function deletesDependents(node: GraphNode): boolean {
  return node.beingDeleted && node.finalizers.includes(foregroundFinalizer)
}

/** Waits until its dependents are orphaned. */
export function orphansDependents(node: GraphNode): boolean {
  return node.beingDeleted && node.finalizers.includes(orphanFinalizer)
}

/**
 * The ownership graph, by UID. Owners may be unknown: they may not exist, no longer exist, or not have been
 * seen yet.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #dependents = new Map<string, Set<string>>()

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid)
  }

  nodes(): Iterable<GraphNode> {
    return this.#nodes.values()
  }

  *dependentsOf(uid: string): Iterable<GraphNode> {
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const node = this.#nodes.get(dependent)
      if (node) yield node
    }
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid)
  }

  /** Applies a change. Returns the UIDs of the objects that it may affect. */
  apply(resource: DiscoveredResource, change: Change<KubeObject>): string[] {
    const touched = new Set<string>()
    // A new object with the same name: the deletion of the old one was not observed.
    if (change.old && change.old.metadata.uid !== change.new?.metadata.uid)
      this.#remove(change.old.metadata.uid, touched)
    if (change.new) this.#put(nodeOf(resource, change.new), touched)
    return [...touched]
  }

  #put(node: GraphNode, touched: Set<string>): void {
    const old = this.#nodes.get(node.uid)
    this.#nodes.set(node.uid, node)
    for (const { uid } of old?.owners ?? [])
      if (!node.owners.some(owner => owner.uid === uid)) {
        this.#unlink(uid, node.uid)
        touched.add(uid)
      }
    for (const { uid } of node.owners) this.#link(uid, node.uid)
    if (node.owners.length > 0 || node.beingDeleted) touched.add(node.uid)
    // A waiting owner may continue when this object no longer blocks it.
    for (const { uid } of node.owners) if (this.#waits(uid)) touched.add(uid)
    if (deletesDependents(node) && !(old && deletesDependents(old)))
      for (const { uid } of this.dependentsOf(node.uid)) touched.add(uid)
  }

  #remove(uid: string, touched: Set<string>): void {
    const node = this.#nodes.get(uid)
    if (!node) return
    this.#nodes.delete(uid)
    for (const dependent of this.dependentsOf(uid)) touched.add(dependent.uid)
    for (const owner of node.owners) {
      this.#unlink(owner.uid, uid)
      if (this.#waits(owner.uid)) touched.add(owner.uid)
    }
  }

  #waits(uid: string): boolean {
    const node = this.#nodes.get(uid)
    return node !== undefined && (deletesDependents(node) || orphansDependents(node))
  }

  #link(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner)
    if (dependents) dependents.add(dependent)
    else this.#dependents.set(owner, new Set([dependent]))
  }

  #unlink(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner)
    dependents?.delete(dependent)
    if (dependents?.size === 0) this.#dependents.delete(owner)
  }
}

function nodeOf(resource: DiscoveredResource, { metadata }: Stored): GraphNode {
  return {
    uid: metadata.uid,
    resource,
    namespace: metadata.namespace,
    name: metadata.name,
    resourceVersion: metadata.resourceVersion,
    owners: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    beingDeleted: metadata.deletionTimestamp !== undefined,
  }
}
