// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Budget } from './budget.ts'
import { type Capacity, firstNode } from './capacity.ts'
import type { Demand, EntityType, ScopeInstance } from './demand.ts'
import type { Ground } from './ground.ts'
import { nodePatterns } from './patterns.ts'
import { addProfiles, covers, equalProfiles, maximal, type Profile, type Vector } from './profile.ts'
import type { Domain } from './tree.ts'

/** Nodes of each bucket, by bucket id. */
export type Assignment = Map<number, number[]>

/** For each entity type: the node of a pod, or the allocation of a scope. */
type Allocation = Map<number, (number | Allocation)[]>

type Member =
  | { readonly kind: 'node'; readonly node: number }
  | { readonly kind: 'domain'; readonly domain: Domain }

interface Group {
  readonly member: Member
  readonly count: number
}

/**
 * Solves one demand exactly. A profile lists what a domain can hold; the profile of a domain is the sum of its parts.
 * With a finite beam the profiles are incomplete: an assignment is still valid, but its absence proves nothing.
 */
export class Solver {
  readonly #model: Model
  readonly #demand: Demand
  readonly #budget: Budget
  readonly #beam: number
  readonly #tree: Domain
  readonly #capacity: Capacity
  readonly #bits: ReadonlyMap<number, number>
  readonly #width: number
  readonly #limits: readonly number[]
  readonly #totals: Int32Array
  readonly #profiles = new Map<string, Profile>()
  readonly #groups: (readonly Group[] | undefined)[] = []
  readonly #zero: Vector

  constructor(model: Model, demand: Demand, ground: Ground, budget: Budget, beam: number) {
    this.#model = model
    this.#demand = demand
    this.#budget = budget
    this.#beam = beam
    this.#bits = ground.bits
    this.#tree = ground.tree
    this.#width = demand.types.length
    this.#limits = demand.counters.map(({ limit }) => limit)
    this.#totals = ground.totals
    this.#capacity = ground.capacity
    this.#zero = new Int32Array(this.#width + this.#limits.length)
  }

  #rootVector(): Vector {
    const vector = this.#zero.slice()
    for (const { type, count } of this.#demand.rootCounts) vector[type] = count
    return vector
  }

  /** Domain counts of all best placements: for each, how many domains every counter uses. */
  counterOptions(): (readonly number[])[] {
    const wanted = this.#rootVector()
    return this.#domainProfile(this.#tree, wanted)
      .filter(vector => wanted.every((count, i) => i >= this.#width || vector[i]! >= count))
      .map(vector => Array.from(vector.subarray(this.#width)))
  }

  /** Finds nodes for all pods with at most `allowance` domains for each counter. */
  assign(allowance: readonly number[] = this.#limits): Assignment | undefined {
    const target = this.#rootVector()
    target.set(allowance, this.#width)
    const allocation = this.#placeIn(this.#tree, target)
    if (!allocation) return undefined
    const assignment: Assignment = new Map()
    hand(this.#demand.root, allocation, assignment)
    return assignment
  }

  #isEntered(type: EntityType, domain: Domain): boolean {
    return type.kind === 'scope' && (domain.entered & (1 << this.#bits.get(type.partition.id)!)) !== 0
  }

  /** Replaces scopes that the domain holds whole by their content. Undefined if there are none. */
  #expand(vector: Vector, domain: Domain): Vector | undefined {
    let expanded: Vector | undefined
    for (let type = this.#width - 1; type >= 0; type--) {
      // Content has smaller ids than the scope, so one descending pass expands nested scopes too.
      const from: Vector = expanded ?? vector
      const count = from[type]!
      const entity = this.#demand.types[type]!
      if (count === 0 || entity.kind !== 'scope' || !this.#isEntered(entity, domain)) continue
      expanded ??= vector.slice()
      expanded[type] = 0
      for (const part of entity.content) expanded[part.type]! += part.count * count
    }
    return expanded
  }

  #clip(vector: Vector, domain: Domain): Vector {
    const clipped = this.#zero.slice()
    for (let type = 0; type < this.#width; type++)
      if (vector[type]! > 0) clipped[type] = Math.min(vector[type]!, this.#capacity.bound(domain, type))
    return clipped
  }

  /** The profile of a domain for at most `wanted` entities. */
  #domainProfile(domain: Domain, wanted: Vector): Profile {
    const signature = this.#capacity.signature(domain)
    if (signature === 0) return [this.#zero]
    const demand = this.#clip(wanted, domain)
    if (demand.every(count => count === 0)) return [this.#zero]
    const key = `${signature} ${demand.join()}`
    const known = this.#profiles.get(key)
    if (known) return known
    const expanded = this.#expand(demand, domain)
    const inside = expanded
      ? this.#collapse(this.#partsProfile(domain, this.#clip(expanded, domain)), demand, domain)
      : this.#partsProfile(domain, demand)
    const profile = this.#count(inside, domain.tags, this.#capacity.usedBits(domain))
    this.#profiles.set(key, profile)
    return profile
  }

  /** Sums over the parts. Equal parts are added until another one changes nothing. */
  #partsProfile(domain: Domain, demand: Vector): Profile {
    let profile: Profile = [this.#zero]
    for (const { member, count } of this.#groupsOf(domain)) {
      const part = this.#memberProfile(member, domain, demand)
      if (isZero(part, this.#zero)) continue
      for (let i = 0; i < count; i++) {
        if (this.#limits.length === 0 && profile.length === 1 && covers(profile[0]!, demand, this.#width))
          return profile
        const next = this.#add(profile, part, demand)
        if (equalProfiles(next, profile)) break
        profile = next
      }
    }
    return profile
  }

  #add(left: Profile, right: Profile, demand: Vector, limits: readonly number[] = this.#limits): Profile {
    const sum = addProfiles(left, right, demand, limits, this.#budget, this.#beam)
    return sum.length > 0 ? sum : [this.#zero]
  }

  #groupsOf(domain: Domain): readonly Group[] {
    const known = this.#groups[domain.id]
    if (known) return known
    const groups = new Map<string, { member: Member; count: number }>()
    const add = (key: string, member: Member) => {
      const group = groups.get(key)
      if (group) group.count++
      else groups.set(key, { member, count: 1 })
    }
    for (const node of domain.nodes)
      if (this.#capacity.classOf[node]) add(`n${this.#capacity.classOf[node]}`, { kind: 'node', node })
    for (const child of domain.children)
      if (this.#capacity.signature(child))
        add(`d${this.#capacity.signature(child)}`, { kind: 'domain', domain: child })
    const found = [...groups.values()]
    this.#groups[domain.id] = found
    return found
  }

  #memberProfile(member: Member, around: Domain, demand: Vector): Profile {
    return member.kind === 'domain'
      ? this.#domainProfile(member.domain, demand)
      : this.#nodeProfile(member.node, around, demand)
  }

  #nodeProfile(node: number, around: Domain, wanted: Vector): Profile {
    const demand = this.#zero.slice()
    for (let type = 0; type < this.#width; type++)
      if (wanted[type]! > 0 && this.#demand.types[type]!.kind === 'pod')
        demand[type] = Math.min(wanted[type]!, this.#capacity.cap(type, node))
    if (demand.every(count => count === 0)) return [this.#zero]
    const key = `n${this.#capacity.classOf[node]} ${around.entered} ${demand.join()}`
    const known = this.#profiles.get(key)
    if (known) return known
    const patterns = nodePatterns(this.#model, this.#demand.types, node, demand, this.#budget, this.#beam)
    // A node outside every domain of a counter counts as a domain of its own.
    let tags = 0
    let used = 0
    this.#demand.counters.forEach(({ partition, usedNodes }, position) => {
      const bit = 1 << this.#bits.get(partition.id)!
      if (!(around.entered & bit)) tags |= bit
      if (usedNodes.has(node)) used |= 1 << position
    })
    const profile = this.#count(maximal(patterns, this.#width, this.#budget, this.#beam), tags, used)
    this.#profiles.set(key, profile)
    return profile
  }

  /** Adds one to the counters whose scope has an entity here, and keeps the choice to have none. */
  #count(profile: Profile, tags: number, used: number): Profile {
    let counted = profile
    this.#demand.counters.forEach(({ id, partition, limit }, position) => {
      if (!(tags & (1 << this.#bits.get(partition.id)!)) || used & (1 << position)) return
      const types = this.#demand.types.filter(({ counters }) => counters.includes(id)).map(type => type.id)
      const next: Vector[] = []
      for (const vector of counted) {
        if (!types.some(type => vector[type]! > 0)) {
          next.push(vector)
          continue
        }
        const without = vector.slice()
        for (const type of types) without[type] = 0
        next.push(without)
        if (vector[this.#width + position]! >= limit) continue
        const withOne = vector.slice()
        withOne[this.#width + position]!++
        next.push(withOne)
      }
      counted = maximal(next, this.#width, this.#budget, this.#beam)
    })
    return counted
  }

  /** Turns a profile of contents back into one of scopes. */
  #collapse(inside: Profile, demand: Vector, domain: Domain): Profile {
    const scopes = this.#demand.types.filter(type => demand[type.id]! > 0 && this.#isEntered(type, domain))
    const contents = scopes.map(({ id }) => {
      const one = this.#zero.slice()
      one[id] = 1
      return this.#expand(one, domain)!
    })
    const found: Vector[] = []
    const choose = (position: number, rest: Vector, chosen: Vector): void => {
      if (position === scopes.length) {
        const vector = chosen.slice()
        for (let type = 0; type < this.#width; type++)
          if (!this.#isEntered(this.#demand.types[type]!, domain))
            vector[type] = Math.min(demand[type]!, rest[type]!)
        found.push(vector)
        return
      }
      const content = contents[position]!
      const type = scopes[position]!.id
      let most = demand[type]!
      for (let i = 0; i < this.#width; i++)
        if (content[i]! > 0) most = Math.min(most, Math.floor(rest[i]! / content[i]!))
      for (let count = most; count >= 0; count--) {
        this.#budget.spend(1)
        const left = rest.slice()
        for (let i = 0; i < this.#width; i++) left[i]! -= content[i]! * count
        chosen[type] = count
        choose(position + 1, left, chosen)
      }
      chosen[type] = 0
    }
    for (const vector of inside) {
      const chosen = this.#zero.slice()
      chosen.set(vector.subarray(this.#width), this.#width)
      choose(0, vector, chosen)
    }
    return maximal(found, this.#width, this.#budget, this.#beam)
  }

  /** Places exactly the entities of `target` in the domain, with at most its counters. */
  #placeIn(domain: Domain, target: Vector): Allocation | undefined {
    const expanded = this.#expand(target, domain)
    const placed = this.#placeParts(domain, expanded ?? target)
    if (!placed || !expanded) return placed
    const result: Allocation = new Map()
    const take = (type: number): number | Allocation => {
      const entity = this.#demand.types[type]!
      if (entity.kind !== 'scope' || !this.#isEntered(entity, domain)) return placed.get(type)!.shift()!
      const inside: Allocation = new Map()
      for (const part of entity.content)
        inside.set(
          part.type,
          Array.from({ length: part.count }, () => take(part.type)),
        )
      return inside
    }
    // Scopes take their content first; what is left belongs to loose entities.
    for (let type = this.#width - 1; type >= 0; type--)
      if (target[type]! > 0)
        result.set(
          type,
          Array.from({ length: target[type]! }, () => take(type)),
        )
    return result
  }

  #placeParts(domain: Domain, target: Vector): Allocation | undefined {
    const allowance = Array.from(target.subarray(this.#width))
    const used: { member: Member; before: Profile; part: Profile }[] = []
    let profile: Profile = [this.#zero]
    const isCovered = () => profile.some(vector => covers(vector, target, this.#width))
    for (const member of this.#byPreference(domain, target)) {
      if (isCovered()) break
      const part = this.#memberProfile(member, domain, target)
      if (isZero(part, this.#zero)) continue
      const next = this.#add(profile, part, target, allowance)
      if (equalProfiles(next, profile)) continue
      used.push({ member, before: profile, part })
      profile = next
    }
    if (!isCovered()) return undefined
    const result: Allocation = new Map()
    let rest = target
    for (const { member, before, part } of used.reverse()) {
      const split = this.#split(rest, before, part)
      if (!split) continue
      rest = split.rest
      const placed =
        member.kind === 'domain'
          ? this.#placeIn(member.domain, split.share)
          : this.#placeOn(member.node, split.share)
      if (!placed) return undefined
      for (const [type, list] of placed) result.set(type, [...list, ...(result.get(type) ?? [])])
    }
    return result
  }

  /** Divides a target between earlier members and this one. Undefined if the earlier members can hold all of it. */
  #split(target: Vector, before: Profile, part: Profile): { rest: Vector; share: Vector } | undefined {
    const width = this.#width
    if (before.some(vector => covers(vector, target, width))) return undefined
    for (const a of before)
      next: for (const b of part) {
        for (let i = 0; i < width; i++) if (a[i]! + b[i]! < target[i]!) continue next
        for (let i = width; i < target.length; i++) if (a[i]! + b[i]! > target[i]!) continue next
        const rest = target.slice()
        const share = target.slice()
        for (let i = 0; i < width; i++) {
          rest[i] = Math.min(a[i]!, target[i]!)
          share[i] = target[i]! - rest[i]!
        }
        for (let i = width; i < target.length; i++) {
          share[i] = b[i]!
          rest[i] = target[i]! - b[i]!
        }
        return { rest, share }
      }
    throw new Error('a covered target has no split: the profile is not a sum of its parts')
  }

  #placeOn(node: number, share: Vector): Allocation {
    const result: Allocation = new Map()
    for (let type = 0; type < this.#width; type++)
      if (share[type]! > 0)
        result.set(
          type,
          Array.from({ length: share[type]! }, () => node),
        )
    return result
  }

  /** Parts in use first, then the tightest: large unused parts stay whole. */
  #byPreference(domain: Domain, target: Vector): Member[] {
    const pods = this.#demand.types.filter(type => type.kind === 'pod' && this.#totals[type.id]! > 0)
    const wanted = pods.filter(({ id }) => target[id]! > 0)
    const relevant = wanted.length > 0 ? wanted : pods
    const members: { member: Member; unused: number; room: number; first: number }[] = []
    for (const node of domain.nodes) {
      if (!this.#capacity.classOf[node]) continue
      let room = 0
      for (const { id } of relevant) room += this.#capacity.cap(id, node)
      members.push({
        member: { kind: 'node', node },
        unused: this.#model.podsOn[node]! > 0 ? 0 : 1,
        room,
        first: node,
      })
    }
    for (const child of domain.children) {
      if (!this.#capacity.signature(child)) continue
      let room = 0
      for (const { id } of relevant) room += this.#capacity.bound(child, id)
      members.push({
        member: { kind: 'domain', domain: child },
        unused: this.#isInUse(child) ? 0 : 1,
        room,
        first: firstNode(child),
      })
    }
    members.sort((a, b) => a.unused - b.unused || a.room - b.room || a.first - b.first)
    return members.map(({ member }) => member)
  }

  #isInUse(domain: Domain): boolean {
    return (
      domain.nodes.some(node => this.#model.podsOn[node]! > 0) ||
      domain.children.some(child => this.#isInUse(child))
    )
  }
}

function isZero(profile: Profile, zero: Vector): boolean {
  return profile.length === 1 && profile[0]!.every((value, i) => value === zero[i])
}

/** Hands the allocation of a scope to its buckets and to the scopes inside it. */
function hand(instance: ScopeInstance, allocation: Allocation, assignment: Assignment): void {
  for (const [type, members] of instance.members) {
    const places = allocation.get(type)!
    members.forEach((member, i) => {
      const place = places[i]!
      if (typeof member === 'number') {
        const nodes = assignment.get(member) ?? []
        nodes.push(place as number)
        assignment.set(member, nodes)
      } else hand(member, place as Allocation, assignment)
    })
  }
}
