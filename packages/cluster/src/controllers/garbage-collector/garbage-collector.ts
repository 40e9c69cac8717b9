// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type OwnerReference, type Patch } from '@grove/kube'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import type { MetadataMonitor } from '../metadata-monitor.ts'
import type { Runtime } from '../runtime.ts'
import { decide, type OwnerState } from './decision.ts'
import {
  deletesDependents,
  foregroundFinalizer,
  type GraphNode,
  OwnerGraph,
  orphanFinalizer,
  orphansDependents,
} from './graph.ts'

const workers = 32
/** The number of absent owners to remember. A UID is never used again. */
const maximumAbsentOwners = 5_000

/**
 * Deletes objects without remaining owners, orphans dependents, and completes foreground deletions. The UID identifies
 * an owner, and the rest of the reference locates it. A reference to another namespace than the object's own refers to
 * nothing.
 */
export class GarbageCollector extends ControlLoop {
  readonly graph = new OwnerGraph()
  readonly #monitor: MetadataMonitor
  readonly #absent = new Set<string>()
  readonly #asked = new Map<string, Promise<boolean>>()

  constructor(runtime: Runtime, monitor: MetadataMonitor) {
    super('garbage-collector', runtime, workers)
    this.#monitor = monitor
    this.watch(
      enqueue =>
        monitor.onChange(({ resource, change }) => {
          for (const uid of this.graph.apply(resource, change)) enqueue(uid)
        }),
      enqueue =>
        monitor.onDiscovery(() => {
          // Owners of kinds that were not served before can be evaluated now.
          for (const { uid, owners } of this.graph.nodes()) if (owners.length > 0) enqueue(uid)
        }),
    )
  }

  protected async reconcile(uid: string): Promise<Requeue> {
    const node = this.graph.get(uid)
    if (!node) return
    try {
      if (orphansDependents(node)) await this.#orphan(node)
      else if (deletesDependents(node)) await this.#awaitDependents(node)
      else if (!node.beingDeleted) await this.#evaluate(node)
    } catch (error) {
      // A deleted object needs no action. A conflict causes a retry.
      if (!isNotFound(error)) throw error
    }
  }

  async #evaluate(node: GraphNode): Promise<void> {
    const owners = await Promise.all(
      node.owners.map(async owner => [owner, await this.#stateOf(owner, node)] as const),
    )
    const decision = decide(node, owners, this.graph.hasDependents(node.uid))
    if (decision.do === 'drop owners') await this.#dropOwners(node, decision.uids)
    if (decision.do !== 'delete') return
    if (decision.policy === 'Foreground') await this.#unblockCycle(node)
    await this.runtime.client.delete(node.resource, node, {
      propagationPolicy: decision.policy,
      preconditions: { uid: node.uid, resourceVersion: node.resourceVersion },
    })
  }

  async #stateOf(owner: OwnerReference, dependent: GraphNode): Promise<OwnerState> {
    const resource = this.#monitor.resourceOf(owner.apiVersion, owner.kind)
    if (!resource) return 'unknown'
    // A cluster-scoped object cannot refer to a namespaced owner. Real clusters leave such an object alone.
    if (resource.namespaced && !dependent.namespace) return 'unknown'
    const namespace = resource.namespaced ? dependent.namespace : undefined
    const known = this.graph.get(owner.uid)
    if (
      known?.name === owner.name &&
      known.namespace === namespace &&
      known.resource.group === resource.group &&
      known.resource.resource === resource.resource
    )
      return deletesDependents(known) ? 'waiting' : 'solid'
    if (known && known.namespace !== namespace) this.#warnAboutNamespace(owner, dependent)
    const key = `${owner.uid}/${resource.group}/${resource.resource}/${namespace ?? ''}/${owner.name}`
    if (this.#absent.has(key)) return 'dangling'
    const ref = { name: owner.name, ...(namespace && { namespace }) }
    let question = this.#asked.get(key)
    if (!question) {
      question = this.runtime.client
        .find(resource, ref)
        .then(found => found?.metadata.uid === owner.uid)
        .finally(() => this.#asked.delete(key))
      this.#asked.set(key, question)
    }
    if (await question) return 'solid'
    if (this.#absent.size >= maximumAbsentOwners) this.#absent.clear()
    this.#absent.add(key)
    return 'dangling'
  }

  #warnAboutNamespace({ apiVersion, kind, name, uid }: OwnerReference, dependent: GraphNode): void {
    const { namespace = '', resource } = dependent
    const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
    this.runtime.events.record(
      resource,
      { metadata: { name: dependent.name, uid: dependent.uid, ...(namespace && { namespace }) } },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${reference} does not exist in namespace "${namespace}"`,
        component: 'garbage-collector-controller',
      },
    )
  }

  async #awaitDependents(node: GraphNode): Promise<void> {
    let blocked = false
    for (const dependent of this.graph.dependentsOf(node.uid)) {
      if (!dependent.beingDeleted) this.enqueue(dependent.uid)
      if (dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === node.uid && blockOwnerDeletion))
        blocked = true
    }
    if (!blocked) await this.#removeFinalizer(node, foregroundFinalizer)
  }

  async #orphan(node: GraphNode): Promise<void> {
    const dependents = [...this.graph.dependentsOf(node.uid)]
    await Promise.all(
      dependents.map(async dependent => {
        try {
          await this.#dropOwners(dependent, [node.uid])
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }),
    )
    await this.#removeFinalizer(node, orphanFinalizer)
  }

  /**
   * Two objects in foreground deletion that own each other would wait forever. This one stops blocking its
   * owners.
   */
  async #unblockCycle(node: GraphNode): Promise<void> {
    const isInCircle = [...this.graph.dependentsOf(node.uid)].some(deletesDependents)
    if (!isInCircle || !node.owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion)) return
    const ownerReferences = node.owners.map(owner => ({ ...owner, blockOwnerDeletion: false }))
    await this.#patch(node, { merge: { metadata: { uid: node.uid, ownerReferences } } })
  }

  async #dropOwners(node: GraphNode, uids: readonly string[]): Promise<void> {
    const ownerReferences = node.owners.filter(({ uid }) => !uids.includes(uid))
    await this.#patch(node, { merge: { metadata: { ...preconditionsOf(node), ownerReferences } } })
  }

  async #removeFinalizer(node: GraphNode, finalizer: string): Promise<void> {
    const finalizers = node.finalizers.filter(each => each !== finalizer)
    await this.#patch(node, { merge: { metadata: { ...preconditionsOf(node), finalizers } } })
  }

  #patch(node: GraphNode, patch: Patch): Promise<unknown> {
    return this.runtime.client.patch(node.resource, node, patch)
  }
}

/** A merge patch replaces whole lists, so it needs the version that was read. */
function preconditionsOf({ uid, resourceVersion }: GraphNode) {
  return { uid, resourceVersion }
}
