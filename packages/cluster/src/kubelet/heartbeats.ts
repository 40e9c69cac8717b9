// SPDX-License-Identifier: Apache-2.0

import { isAlreadyExists, isConflict, isNotFound, type Stored } from '@grove/kube'
import { changesOf } from '../controllers/changes.ts'
import { ControlLoop, type Requeue } from '../controllers/control-loop.ts'
import { type Lease, leases, type Node, nodes } from '../controllers/kinds.ts'
import type { Runtime } from '../controllers/runtime.ts'
import { nodeConditions } from '../nodes/conditions.ts'
import { registration } from '../nodes/registration.ts'
import { isStopped } from './kubelet.ts'

export interface HeartbeatsOptions {
  /** The interval of lease renewals of a node. */
  readonly intervalMs?: number
}

export const nodeLeaseNamespace = 'kube-node-lease'
const defaultIntervalMs = 10_000
const leaseDurationSeconds = 40
const workers = 8

/**
 * The heartbeats of all nodes: renews a lease per node and restores a lost Ready condition. Before the first
 * heartbeat it registers the capacity of the node. Stopped nodes send no heartbeats.
 */
export class Heartbeats extends ControlLoop {
  readonly #intervalMs: number

  constructor(runtime: Runtime, options: HeartbeatsOptions = {}) {
    super('heartbeats', runtime, workers)
    const { caches } = runtime
    this.#intervalMs = options.intervalMs ?? defaultIntervalMs
    caches.require(leases)
    this.watch(
      changesOf(caches.of(nodes), ({ old, new: node }) => {
        const needsReconcile =
          node && (!old || isStopped(old) !== isStopped(node) || (isReady(old) && !isReady(node)))
        return needsReconcile ? [node.metadata.name] : []
      }),
    )
  }

  protected async reconcile(name: string): Promise<Requeue> {
    const node = this.runtime.caches.of(nodes).get({ name })
    if (!node || isStopped(node)) return undefined
    await this.#renew(node)
    await this.#register(node)
    if (!isReady(node)) await this.#declareReady(node)
    return { requeueAfter: this.#intervalMs }
  }

  async #renew(node: Stored<Node>): Promise<void> {
    const { client, caches, clock } = this.runtime
    const ref = { namespace: nodeLeaseNamespace, name: node.metadata.name }
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
    try {
      if (caches.of(leases).get(ref)) await client.patch(leases, ref, { merge: { spec: { renewTime } } })
      else await client.create(leases, leaseOf(node, renewTime))
    } catch (error) {
      if (!isNotFound(error) && !isAlreadyExists(error) && !isConflict(error)) throw error
    }
  }

  /** Completes a Node that a user created, possibly with only a name. */
  async #register(node: Stored<Node>): Promise<void> {
    const missing = registration(node, this.runtime.clock.now())
    if (!missing) return
    const { client } = this.runtime
    try {
      if (Object.keys(missing.labels).length > 0)
        await client.patch(nodes, node.metadata, { merge: { metadata: { labels: missing.labels } } })
      await client.patch(
        nodes,
        node.metadata,
        { merge: { status: missing.status } },
        { subresource: 'status' },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #declareReady(node: Stored<Node>): Promise<void> {
    const conditions = nodeConditions(this.runtime.clock.now(), node.status?.conditions)
    try {
      await this.runtime.client.patch(
        nodes,
        node.metadata,
        { strategic: { status: { conditions } } },
        { subresource: 'status' },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function isReady({ status }: Stored<Node>): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}

function leaseOf({ metadata: { name, uid } }: Stored<Node>, renewTime: string): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: nodeLeaseNamespace,
      name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
  }
}
