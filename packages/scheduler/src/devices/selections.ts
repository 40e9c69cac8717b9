// SPDX-License-Identifier: Apache-2.0

// Devices as resources of a node. Requests with overlapping selectors compete for devices, so one count for each request is
// not enough. By Hall's theorem, requests can be satisfied together if and only if, for every set of requests, at least as
// many devices are selected by some request of the set as the requests of the set ask for. Each set is one resource: a node
// offers the devices that some request of the set selects, and a pod asks for the sum over its requests in the set. The core
// then decides exactly about devices as it does about any other resource.
import { compareText } from '../order.ts'
import type { Query } from './requests.ts'

/** More sets of overlapping requests than this are not searched: the requests are reported as unsupported. */
const mostSets = 64
/** Sets are bits of one number. */
const mostOverlapping = 30

const prefix = 'devices of class '

/** No resource name of Kubernetes contains a space. */
export function isDeviceResource(name: string): boolean {
  return name.startsWith(prefix)
}

export interface Selections {
  /** Names of the resources that one device of the selection counts for, when it is asked for. */
  readonly asked: readonly (readonly string[])[]
  /** Selections whose overlap with others is not supported. */
  readonly isTooComplex: readonly boolean[]
  /** Names of the resources that a device with these selections offers. */
  offered(selections: readonly number[]): readonly string[]
}

/** `signatures` are the distinct lists of selections that devices have. Selections are positions in `queries`. */
export function selectionsOf(
  queries: readonly Query[],
  signatures: readonly (readonly number[])[],
): Selections {
  const asked: string[][] = queries.map(() => [])
  const isTooComplex = queries.map(() => false)
  const names = new Map<string, number>()
  for (const members of componentsOf(queries.length, signatures)) {
    const position = new Map(members.map((selection, at) => [selection, at]))
    const masks = signatures
      .filter(([first]) => first !== undefined && position.has(first))
      .map(signature => signature.reduce((mask, selection) => mask | (1 << position.get(selection)!), 0))
    const sets = members.length > mostOverlapping ? undefined : hallSets(members.length, masks)
    if (!sets) {
      for (const selection of members) isTooComplex[selection] = true
      continue
    }
    for (const set of sets) {
      const own = members.filter((_, at) => set & (1 << at))
      const name = uniqueName(own.map(selection => queries[selection]!))
      for (const selection of own) asked[selection]!.push(name)
    }
  }
  return {
    asked,
    isTooComplex,
    offered: selections => [...new Set(selections.flatMap(selection => asked[selection]!))].sort(compareText),
  }

  function uniqueName(own: readonly Query[]): string {
    const labels = [...new Set(own.map(labelOf))]
    const shown = labels.length > 3 ? [...labels.slice(0, 2), `${labels.length - 2} more`] : labels
    const name = `${prefix}${shown.join(' or ')}`
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return count === 1 ? name : `${name} #${count}`
  }
}

const mostText = 60

function labelOf({ className, selectors }: Query): string {
  if (selectors.length === 0) return className
  const text = selectors.join(' && ')
  return `${className} with ${text.length > mostText ? `${text.slice(0, mostText)}…` : text}`
}

/** Selections that are connected by devices which several of them select, in order. */
function componentsOf(count: number, signatures: readonly (readonly number[])[]): number[][] {
  const parent = Array.from({ length: count }, (_, selection) => selection)
  const find = (selection: number): number => {
    let root = selection
    while (parent[root] !== root) root = parent[root]!
    return root
  }
  for (const [first, ...others] of signatures)
    for (const other of others) {
      const [left, right] = [find(first!), find(other)]
      parent[Math.max(left, right)] = Math.min(left, right)
    }
  return [...Map.groupBy(parent.keys(), find).values()]
}

/**
 * The sets of selections whose counts have to be compared, as bits. A set with the same devices as a larger one is implied by
 * it, and so is a set that consists of parts without common devices. Undefined if there are too many.
 */
function hallSets(count: number, signatures: readonly number[]): number[] | undefined {
  const closure = (set: number): number => {
    const outside = signatures.filter(signature => (signature & set) === 0)
    let closed = 0
    for (let at = 0; at < count; at++)
      if (outside.every(signature => (signature & (1 << at)) === 0)) closed |= 1 << at
    return closed
  }
  const found = new Set<number>()
  const queue: number[] = []
  const add = (set: number) => {
    if (found.has(set)) return
    found.add(set)
    queue.push(set)
  }
  for (let at = 0; at < count; at++) add(closure(1 << at))
  for (let set = queue.pop(); set !== undefined; set = queue.pop()) {
    if (found.size > mostSets) return undefined
    for (let at = 0; at < count; at++) if (!(set & (1 << at))) add(closure(set | (1 << at)))
  }
  return [...found].filter(set => isConnected(set, signatures)).sort((left, right) => left - right)
}

function isConnected(set: number, signatures: readonly number[]): boolean {
  let reached = set & -set
  for (let before = 0; before !== reached; ) {
    before = reached
    for (const signature of signatures) if (signature & reached) reached |= signature & set
  }
  return reached === set
}
