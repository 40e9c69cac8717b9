// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Demand, EntityType } from './demand.ts'
import type { Domain } from './tree.ts'

/** Node classes, domain signatures and upper bounds for one demand. Each bound is computed once per signature. */
export class Capacity {
  #classOf: Int32Array | undefined
  /** Capacity of each pod type on each node. */
  readonly #caps: (Int32Array | undefined)[]
  readonly #totals: Int32Array
  readonly #pods: readonly (EntityType & { kind: 'pod' })[]
  readonly #signatures = new Map<string, number>()
  readonly #signatureOf: Int32Array
  readonly #bounds: Float64Array
  readonly #free: (Float64Array | undefined)[]
  readonly #model: Model
  readonly #demand: Demand
  readonly #bits: ReadonlyMap<number, number>
  /** Total demand of each requested resource, to clip free amounts. */
  readonly #resources: readonly { readonly index: number; readonly demand: number }[]

  constructor(
    model: Model,
    demand: Demand,
    totals: Int32Array,
    bits: ReadonlyMap<number, number>,
    domains: number,
  ) {
    this.#model = model
    this.#demand = demand
    this.#bits = bits
    this.#signatureOf = new Int32Array(domains).fill(-1)
    this.#bounds = new Float64Array(domains * demand.types.length).fill(-1)
    this.#free = new Array(domains)
    const pods = demand.types.filter(type => type.kind === 'pod')
    const resources = new Map<number, number>()
    for (const { shape, id } of pods)
      shape.resources.forEach((resource, i) => {
        resources.set(resource, (resources.get(resource) ?? 0) + shape.amounts[i]! * totals[id]!)
      })
    this.#resources = [...resources]
      .map(([index, demand]) => ({ index, demand }))
      .sort((a, b) => a.index - b.index)
    this.#totals = totals
    this.#pods = pods
    this.#caps = demand.types.map(type => (type.kind === 'pod' ? this.#capsOf(type) : undefined))
  }

  #capsOf({ shape, mask }: EntityType & { kind: 'pod' }): Int32Array {
    const { caps } = this.#model.roomOf(shape)
    return mask ? caps.map((cap, node) => (mask.nodes[node] ? cap : 0)) : caps
  }

  /** Reports whether all useful nodes together lack a resource for all pods. */
  isShort(): boolean {
    if (this.#pods.length < 2) return false
    const { nodeCount } = this.#model
    const free = new Float64Array(this.#resources.length)
    for (let node = 0; node < nodeCount; node++) {
      if (!this.#pods.some(({ id }) => this.#caps[id]![node]! > 0)) continue
      this.#resources.forEach(({ index, demand }, i) => {
        free[i]! += Math.max(0, Math.min(this.#model.freeOf(node, index), demand))
      })
    }
    return this.#resources.some(({ demand }, i) => free[i]! < demand)
  }

  /** Class of each node; nodes of class 0 hold no pod. */
  get classOf(): Int32Array {
    this.#classOf ??= this.#classes(this.#pods)
    return this.#classOf
  }

  /** Nodes are in one class if they hold the same combinations of pods and count alike for every counter. */
  #classes(pods: readonly (EntityType & { kind: 'pod' })[]): Int32Array {
    const classOf = new Int32Array(this.#model.nodeCount)
    const known = new Map<string, number>()
    const { counters } = this.#demand
    for (let node = 0; node < classOf.length; node++) {
      let key = ''
      let useful = false
      for (const { id } of pods) {
        const cap = this.cap(id, node)
        key += `${cap} `
        if (cap > 0) useful = true
      }
      if (!useful) continue
      if (pods.length > 1)
        for (const { index, demand } of this.#resources)
          key += `${Math.min(this.#model.freeOf(node, index), demand)},`
      for (const { partition, usedNodes } of counters)
        if (partition.domainOf[node]! < 0) key += usedNodes.has(node) ? 'u' : 'o'
        else key += '-'
      let found = known.get(key)
      if (found === undefined) {
        found = known.size + 1
        known.set(key, found)
      }
      classOf[node] = found
    }
    return classOf
  }

  /** Clipped to the demand. */
  cap(type: number, node: number): number {
    return Math.min(this.#caps[type]![node]!, this.#totals[type]!)
  }

  /** Counters, as bits of their position, that do not count the domain because the scope runs there already. */
  usedBits(domain: Domain): number {
    let bits = 0
    this.#demand.counters.forEach(({ partition, usedDomains }, position) => {
      if (usedDomains.size === 0 || !(domain.tags & (1 << this.#bits.get(partition.id)!))) return
      const index = partition.domainOf[firstNode(domain)]!
      if (usedDomains.has(index)) bits |= 1 << position
    })
    return bits
  }

  /** Domains with equal signatures hold the same combinations. */
  signature(domain: Domain): number {
    const known = this.#signatureOf[domain.id]!
    if (known >= 0) return known
    const counts = new Map<string, number>()
    const add = (part: string) => counts.set(part, (counts.get(part) ?? 0) + 1)
    for (const node of domain.nodes) if (this.classOf[node]) add(`n${this.classOf[node]}`)
    for (const child of domain.children) {
      const signature = this.signature(child)
      if (signature > 0) add(`d${signature}`)
    }
    let found = 0
    if (counts.size > 0) {
      const parts = [...counts].map(([part, count]) => `${part}x${count}`).sort()
      const key = `${domain.tags} ${domain.entered} ${this.usedBits(domain)} ${parts}`
      found = this.#signatures.get(key) ?? this.#signatures.size + 1
      this.#signatures.set(key, found)
    }
    this.#signatureOf[domain.id] = found
    return found
  }

  /** An upper bound of the entities of one type in the domain: no placement holds more. */
  bound(domain: Domain, type: number): number {
    const at = domain.id * this.#demand.types.length + type
    const known = this.#bounds[at]!
    if (known >= 0) return known
    const entity = this.#demand.types[type]!
    const bound = entity.kind === 'pod' ? this.#podBound(domain, type) : this.#scopeBound(domain, entity)
    this.#bounds[at] = bound
    return bound
  }

  #podBound(domain: Domain, type: number): number {
    const caps = this.#caps[type]!
    const most = this.#totals[type]!
    let sum = 0
    for (const node of domain.nodes) sum += Math.min(caps[node]!, most)
    for (const child of domain.children) sum += this.bound(child, type)
    return sum
  }

  #scopeBound(domain: Domain, entity: EntityType & { kind: 'scope' }): number {
    if (domain.entered & (1 << this.#bits.get(entity.partition.id)!)) {
      let most = Number.MAX_SAFE_INTEGER
      for (const { type, count } of entity.pods)
        most = Math.min(most, Math.floor(this.bound(domain, type) / count))
      return most === 0 ? 0 : Math.min(most, this.#resourceBound(domain, entity))
    }
    let sum = 0
    for (const child of domain.children) sum += this.bound(child, entity.id)
    return sum
  }

  #resourceBound(domain: Domain, entity: EntityType & { kind: 'scope' }): number {
    const needs = new Map<number, number>()
    for (const { type, count } of entity.pods) {
      const pod = this.#demand.types[type]!
      if (pod.kind === 'pod')
        pod.shape.resources.forEach((resource, i) => {
          needs.set(resource, (needs.get(resource) ?? 0) + pod.shape.amounts[i]! * count)
        })
    }
    const free = this.#freeIn(domain)
    let most = Number.MAX_SAFE_INTEGER
    this.#resources.forEach(({ index }, i) => {
      const need = needs.get(index)
      if (need) most = Math.min(most, Math.floor(free[i]! / need))
    })
    return most
  }

  /** Free amounts of useful nodes, each clipped to the whole demand, so that sums stay exact. */
  #freeIn(domain: Domain): Float64Array {
    const known = this.#free[domain.id]
    if (known) return known
    const sum = new Float64Array(this.#resources.length)
    this.#resources.forEach(({ index, demand }, i) => {
      let total = 0
      for (const node of domain.nodes)
        if (this.classOf[node]) total += Math.max(0, Math.min(this.#model.freeOf(node, index), demand))
      for (const child of domain.children) total += this.#freeIn(child)[i]!
      sum[i] = Math.min(total, demand)
    })
    this.#free[domain.id] = sum
    return sum
  }
}

export function firstNode(domain: Domain): number {
  let at = domain
  while (at.nodes.length === 0) at = at.children[0]!
  return at.nodes[0]!
}
