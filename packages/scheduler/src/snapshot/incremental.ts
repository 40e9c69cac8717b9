// SPDX-License-Identifier: Apache-2.0

// Lists of a snapshot that are derived from those of the last one. Watch caches replace an object when it changes and keep
// the order of all others, so two cycles are compared object by object. The lists are equal to newly built ones; only the
// work differs.
import type { Node, Pod } from '@grove/api'
import { derive } from '../model/usage.ts'
import { canonicalText, compareText, sortedRecord } from '../order.ts'
import type { Amounts, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'
import { compareByName, usesClaims } from './pods.ts'

/** The objects of a snapshot in the order in which they were given. */
interface Given {
  readonly nodes: readonly Node[]
  /** Amounts of devices by node; undefined if no pod has resource claims. */
  readonly offered: Offered | undefined
  readonly pods: readonly Pod[]
  /** The snapshot of each pod; undefined for pods that hold nothing. */
  readonly made: readonly (SnapshotPod | undefined)[]
}

type Offered = ReadonlyMap<string, Amounts>

const givenOf = new WeakMap<Snapshot, Given>()

export function remember(snapshot: Snapshot, given: Given): Snapshot {
  givenOf.set(snapshot, given)
  return snapshot
}

/**
 * Returns a function that finds the snapshot of a pod that has not changed since the last cycle. It must be called with all
 * pods in order. Pods without a node may have been assumed on one since, and claims change without the pod.
 */
export function unchangedPods(previous: Snapshot | undefined): (pod: Pod) => SnapshotPod | undefined {
  const before = previous && givenOf.get(previous)
  if (!before) return () => undefined
  let from = 0
  return pod => {
    if (before.pods[from] !== pod && before.pods[from + 1] === pod) from++
    const isSame = before.pods[from] === pod
    const known = isSame ? before.made[from] : undefined
    from++
    return known && pod.spec.nodeName && !usesClaims(pod) ? known : undefined
  }
}

export function sortedNodes(
  nodes: readonly Node[],
  make: (node: Node) => SnapshotNode,
  previous: Snapshot | undefined,
  offered: Offered | undefined,
): readonly SnapshotNode[] {
  const before = previous && givenOf.get(previous)
  if (
    previous &&
    before?.nodes.length === nodes.length &&
    before.nodes.every((node, at) => node === nodes[at]) &&
    nodes.every(({ metadata }) => isEqual(before.offered?.get(metadata.name), offered?.get(metadata.name)))
  )
    return previous.nodes
  return nodes
    .map(node => withDevices(make(node), offered?.get(node.metadata.name)))
    .sort((left, right) => compareText(left.name, right.name))
}

function isEqual(left: Amounts | undefined, right: Amounts | undefined): boolean {
  return left === right || canonicalText(left ?? {}) === canonicalText(right ?? {})
}

/** Devices that claims of pods can use are resources of the node. */
function withDevices(node: SnapshotNode, devices: Amounts | undefined): SnapshotNode {
  if (!devices || Object.keys(devices).length === 0) return node
  return { ...node, allocatable: sortedRecord({ ...node.allocatable, ...devices }) }
}

/** Bound pods in canonical order. Sums over them are derived from those of the last snapshot if few pods differ. */
export function sortedBoundPods(
  pods: readonly Pod[],
  made: readonly (SnapshotPod | undefined)[],
  nodes: readonly SnapshotNode[],
  previous: Snapshot | undefined,
): readonly SnapshotPod[] {
  const before = previous && givenOf.get(previous)
  const changes = before && changesBetween(before, pods, made)
  const kept = changes && withRemoved(previous!.boundPods, changes.left)
  if (!kept)
    return made
      .filter(pod => pod !== undefined)
      .filter(isBound)
      .sort(compareByName)
  const { left, added } = changes
  if (left.length + added.length === 0) return previous!.boundPods
  const sorted = withInserted(kept, added.sort(compareByName))
  derive(nodes, previous!.boundPods, sorted, left, added)
  return sorted
}

function isBound({ node }: SnapshotPod): boolean {
  return node !== undefined
}

/** Bound pods that have left or were added. Undefined if the lists differ too much. */
function changesBetween(
  before: Given,
  pods: readonly Pod[],
  made: readonly (SnapshotPod | undefined)[],
): { left: SnapshotPod[]; added: SnapshotPod[] } | undefined {
  const left: SnapshotPod[] = []
  const added: SnapshotPod[] = []
  const most = pods.length / 8
  const drop = (pod: SnapshotPod | undefined) => pod?.node !== undefined && left.push(pod)
  const take = (pod: SnapshotPod | undefined) => pod?.node !== undefined && added.push(pod)
  let from = 0
  for (let at = 0; at < pods.length; at++) {
    if (left.length + added.length > most) return undefined
    if (before.pods[from] !== pods[at]) {
      if (from >= before.pods.length || before.pods[from] === pods[at + 1]) {
        take(made[at])
        continue
      }
      while (from + 1 < before.pods.length && before.pods[from + 1] === pods[at]) drop(before.made[from++])
      if (before.pods[from] !== pods[at]) {
        drop(before.made[from++])
        take(made[at])
        continue
      }
    }
    // The same pod may have got a node since, or its volumes may have changed.
    if (before.made[from] !== made[at]) {
      drop(before.made[from])
      take(made[at])
    }
    from++
  }
  while (from < before.pods.length) drop(before.made[from++])
  return left.length + added.length > most ? undefined : { left, added }
}

/** The position of the first pod that does not come before this one. */
function positionOf(pods: readonly SnapshotPod[], pod: SnapshotPod): number {
  let low = 0
  let high = pods.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareByName(pods[middle]!, pod) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Undefined if a pod is not where its name belongs: then the lists are not comparable. */
function withRemoved(
  pods: readonly SnapshotPod[],
  left: readonly SnapshotPod[],
): readonly SnapshotPod[] | undefined {
  if (left.length === 0) return pods
  const positions = left.map(pod => positionOf(pods, pod))
  if (positions.some((position, i) => pods[position] !== left[i])) return undefined
  const kept: SnapshotPod[][] = []
  let from = 0
  for (const position of positions.sort((a, b) => a - b)) {
    kept.push(pods.slice(from, position))
    from = position + 1
  }
  kept.push(pods.slice(from))
  return kept.flat()
}

function withInserted(pods: readonly SnapshotPod[], added: readonly SnapshotPod[]): SnapshotPod[] {
  const parts: SnapshotPod[][] = []
  let from = 0
  for (const pod of added) {
    const position = positionOf(pods, pod)
    parts.push(pods.slice(from, position), [pod])
    from = position
  }
  parts.push(pods.slice(from))
  return parts.flat()
}
