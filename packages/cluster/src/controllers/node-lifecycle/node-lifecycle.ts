// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Stored } from '@grove/kube'
import { nodeLeaseNamespace } from '../../kubelet/heartbeats.ts'
import type { NodeCondition } from '../../schema/types.generated.ts'
import { changesOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { leases, type Node, nodes, pods } from '../kinds.ts'
import type { Runtime } from '../runtime.ts'
import { timestamp } from '../timestamp.ts'
import { wantedTaints } from './taints.ts'

export interface NodeLifecycleOptions {
  /** The time without heartbeats after which a node is lost. */
  readonly graceMs?: number
}

const defaultGraceMs = 50_000
/** The number of pods of a lost node that are updated concurrently. */
const podConcurrency = 16
const workers = 8
const watchedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Detects nodes without heartbeats, and maintains the taints that follow from conditions. */
export class NodeLifecycle extends ControlLoop {
  readonly #graceMs: number
  /**
   * The last heartbeat of each node, and the local time at which it arrived. The clocks of nodes are not compared with
   * the local clock.
   */
  readonly #heartbeats = new Map<string, { readonly sign: string; readonly at: number }>()

  constructor(runtime: Runtime, options: NodeLifecycleOptions = {}) {
    super('node-lifecycle', runtime, workers)
    const { caches } = runtime
    this.#graceMs = options.graceMs ?? defaultGraceMs
    this.watch(
      changesOf(caches.of(nodes), ({ old, new: node }) => {
        if (!node) this.#heartbeats.delete(old.metadata.name)
        return node ? [node.metadata.name] : []
      }),
      changesOf(caches.of(leases), ({ new: lease }) => {
        if (lease?.metadata.namespace === nodeLeaseNamespace) this.#recordHeartbeat(lease.metadata.name)
        return []
      }),
    )
  }

  protected async reconcile(name: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const node = caches.of(nodes).get({ name })
    if (!node) return undefined
    const silentMs = clock.monotonic() - this.#recordHeartbeat(name)
    const isLost = silentMs >= this.#graceMs
    try {
      const current = isLost && !isUnknown(node) ? await this.#declareLost(node) : node
      await this.#taint(current)
      if (isLost) await this.#markPodsNotReady(name, timestamp(clock.now()))
    } catch (error) {
      if (!isNotFound(error)) throw error
      return undefined
    }
    // A lost node causes an event when it is back. A healthy node is checked when it could be lost.
    return isLost ? undefined : { requeueAfter: this.#graceMs - silentMs }
  }

  /** Records a heartbeat. Returns the monotonic time of the last one. */
  #recordHeartbeat(name: string): number {
    const { caches, clock } = this.runtime
    const lease = caches.of(leases).get({ namespace: nodeLeaseNamespace, name })
    const node = caches.of(nodes).get({ name })
    const sign = `${lease?.spec?.renewTime} ${heartbeatOf(node)}`
    const known = this.#heartbeats.get(name)
    if (known?.sign === sign) return known.at
    const at = clock.monotonic()
    this.#heartbeats.set(name, { sign, at })
    return at
  }

  async #declareLost(node: Stored<Node>): Promise<Stored<Node>> {
    const { client, clock, log } = this.runtime
    const now = timestamp(clock.now())
    log.info('Node sent no heartbeat within the grace period', { node: node.metadata.name })
    const conditions = watchedConditions.map(type => unknownCondition(node, type, now))
    const lost = await client.patch(
      nodes,
      node.metadata,
      { strategic: { status: { conditions } } },
      { subresource: 'status' },
    )
    this.enqueue(node.metadata.name)
    const sign = this.#heartbeats.get(node.metadata.name)
    if (sign) this.#heartbeats.set(node.metadata.name, { sign: this.#heartbeatOf(lost), at: sign.at })
    return lost
  }

  #heartbeatOf(node: Stored<Node>): string {
    const lease = this.runtime.caches
      .of(leases)
      .get({ namespace: nodeLeaseNamespace, name: node.metadata.name })
    return `${lease?.spec?.renewTime} ${heartbeatOf(node)}`
  }

  async #markPodsNotReady(node: string, now: string): Promise<void> {
    const { client, caches } = this.runtime
    const ready = caches.pods
      .byIndex('node', node)
      .filter(({ status }) =>
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      )
      .values()
    const worker = async () => {
      for (const pod of ready) {
        const condition = { type: 'Ready', status: 'False', lastTransitionTime: now }
        const strategic = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
        try {
          await client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
    }
    await Promise.all(Array.from({ length: podConcurrency }, worker))
  }

  async #taint(node: Stored<Node>): Promise<void> {
    const { client, clock } = this.runtime
    const taints = wantedTaints(node, timestamp(clock.now()))
    if (!taints) return
    // A merge patch replaces all taints. The resourceVersion prevents losing a concurrent change.
    const { resourceVersion } = node.metadata
    await client.patch(nodes, node.metadata, { merge: { metadata: { resourceVersion }, spec: { taints } } })
  }
}

function heartbeatOf(node: Stored<Node> | undefined): string | null | undefined {
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
}

function isUnknown({ status }: Stored<Node>): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown'
}

function unknownCondition(node: Stored<Node>, type: string, now: string): NodeCondition {
  const old = node.status?.conditions?.find(condition => condition.type === type)
  return {
    type,
    status: 'Unknown',
    reason: old ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated',
    message: old ? 'Kubelet stopped posting node status.' : 'Kubelet never posted node status.',
    lastHeartbeatTime: old?.lastHeartbeatTime ?? node.metadata.creationTimestamp,
    lastTransitionTime: now,
  }
}
