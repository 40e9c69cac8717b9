// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../controllers/kinds.ts'
import type { Taint } from '../schema/types.generated.ts'
import type { HostPort, PodInfo } from './pod-info.ts'
import { type Amounts, addTo, amountsOf } from './resources.ts'
import type { Labels } from './selector.ts'

const anyAddress = '0.0.0.0'

/** A node and its pods. Sums are updated with every pod, so that reads do not visit the pods. */
export class NodeState {
  readonly name: string
  readonly pods = new Map<string, PodInfo>()
  readonly antiAffinityPods = new Set<PodInfo>()
  readonly affinityPods = new Set<PodInfo>()
  readonly #requested = new Map<string, number>()
  readonly #assumed = new Map<string, number>()
  readonly #ports = new Map<string, Map<string, number>>()
  #node: Node
  #allocatable: Amounts

  constructor(node: Node) {
    this.name = node.metadata?.name ?? ''
    this.#node = node
    this.#allocatable = amountsOf(node.status?.allocatable)
  }

  get node(): Node {
    return this.#node
  }

  get labels(): Labels {
    return this.#node.metadata?.labels ?? {}
  }

  get taints(): readonly Taint[] | undefined {
    return this.#node.spec?.taints
  }

  get unschedulable(): boolean {
    return this.#node.spec?.unschedulable === true
  }

  get allocatable(): Amounts {
    return this.#allocatable
  }

  get requested(): Amounts {
    return this.#requested
  }

  /** Requests including the defaults that scores assume for pods without requests. */
  get assumed(): Amounts {
    return this.#assumed
  }

  setNode(node: Node): void {
    if (node.status?.allocatable !== this.#node.status?.allocatable)
      this.#allocatable = amountsOf(node.status?.allocatable)
    this.#node = node
  }

  add(info: PodInfo): void {
    this.pods.set(info.key, info)
    this.#count(info, 1)
    if (info.requiredAntiAffinity.length) this.antiAffinityPods.add(info)
    if (hasAffinity(info)) this.affinityPods.add(info)
  }

  remove(info: PodInfo): void {
    if (!this.pods.delete(info.key)) return
    this.#count(info, -1)
    this.antiAffinityPods.delete(info)
    this.affinityPods.delete(info)
  }

  /** Returns the free amount of a resource. */
  free(resource: string): number {
    return (this.#allocatable.get(resource) ?? 0) - (this.#requested.get(resource) ?? 0)
  }

  /** Reports whether a pod on this node uses the port on the same address or on all addresses. */
  portTaken({ protocol, address, port }: HostPort): boolean {
    const addresses = this.#ports.get(`${protocol}/${port}`)
    if (!addresses?.size) return false
    return address === anyAddress || addresses.has(address) || addresses.has(anyAddress)
  }

  #count(info: PodInfo, sign: 1 | -1): void {
    addTo(this.#requested, info.requests, sign)
    addTo(this.#assumed, info.assumed, sign)
    for (const { protocol, port, address } of info.ports) {
      const key = `${protocol}/${port}`
      const addresses = this.#ports.get(key) ?? new Map<string, number>()
      const count = (addresses.get(address) ?? 0) + sign
      if (count > 0) addresses.set(address, count)
      else addresses.delete(address)
      if (addresses.size) this.#ports.set(key, addresses)
      else this.#ports.delete(key)
    }
  }
}

function hasAffinity(info: PodInfo): boolean {
  return (
    info.requiredAffinity.length +
      info.requiredAntiAffinity.length +
      info.preferredAffinity.length +
      info.preferredAntiAffinity.length >
    0
  )
}
