// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import { type Client, isAlreadyExists, isNotFound, type Stored } from '@grove/kube/client'
import { type Node, nodes, pods } from '../controllers/kinds.ts'
import { unknownConditions } from './conditions.ts'
import { nodeOf } from './node.ts'
import { stoppedAnnotation } from './stopped.ts'
import type { NodePlan } from './topology.ts'

/** The number of concurrent requests when many nodes are created. */
const concurrency = 32

/**
 * Adds, removes, stops and restarts simulated nodes while the cluster runs. kubectl can do all of this too.
 */
export class Fleet {
  readonly #client: Client
  readonly #clock: Clock

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Creates the nodes that do not exist. */
  async add(plans: readonly NodePlan[]): Promise<void> {
    await forEachConcurrently(plans, plan => this.#create(nodeOf(plan, this.#clock.now())))
  }

  /** Deletes nodes. Their pods are lost. */
  async remove(names: readonly string[]): Promise<void> {
    await forEachConcurrently(names, async name => {
      try {
        await this.#client.delete(nodes, { name })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    })
  }

  /** Simulates a machine failure: no heartbeats, and the pods keep their last status. */
  async kill(name: string): Promise<Stored<Node>> {
    return this.#annotate(name, 'true')
  }

  /**
   * Simulates a machine failure whose effects are visible at once: the node is NotReady, and its pods are deleted.
   * After a plain `kill` this takes the grace period and the toleration of the pods. Returns the number of its pods.
   */
  async killNow(name: string): Promise<number> {
    const node = await this.kill(name)
    const conditions = unknownConditions(node.status?.conditions ?? [], this.#clock.now())
    await this.#client.patch(
      nodes,
      { name },
      { strategic: { status: { conditions } } },
      { subresource: 'status' },
    )
    const { items } = await this.#client.list(pods, { fieldSelector: `spec.nodeName=${name}` })
    await forEachConcurrently(items, async ({ metadata }) => {
      try {
        await this.#client.delete(pods, metadata, { gracePeriodSeconds: 0 })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    })
    return items.length
  }

  /** Restarts the machine with the pods that are still bound to it. */
  async revive(name: string): Promise<Stored<Node>> {
    return this.#annotate(name, null)
  }

  #annotate(name: string, value: string | null): Promise<Stored<Node>> {
    return this.#client.patch(
      nodes,
      { name },
      { merge: { metadata: { annotations: { [stoppedAnnotation]: value } } } },
    )
  }

  async #create(node: Node): Promise<void> {
    try {
      const created = await this.#client.create(nodes, node)
      if (created.status?.allocatable) return
      // Not every API server accepts the status in a create request.
      await this.#client.patch(
        nodes,
        created.metadata,
        { merge: { status: node.status } },
        { subresource: 'status' },
      )
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
