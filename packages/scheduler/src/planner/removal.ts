// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import type { SnapshotPod } from '../types.ts'
import type { GangTask } from './gang-demand.ts'
import { allScopes } from './scopes.ts'

/** Pods of one node whose removal makes room for more pods of a shape. */
export interface RemovalUnit {
  readonly pods: readonly SnapshotPod[]
  readonly gain: number
}

/** At most this many domains are proposed. */
const mostRegions = 3

/**
 * Sets of pods whose removal may make room for the missing pods, for each shape and each domain of the outermost
 * required level. Each set is as small as possible, and the domain that needs the fewest removals comes first. An
 * estimate by resources, which a trial verifies.
 */
export function removalUnits(
  { model, task }: { readonly model: Model; readonly task: GangTask },
  podsOn: (node: number) => readonly SnapshotPod[],
): RemovalUnit[][] {
  const counts = new Map<Shape, number>()
  for (const pod of task.minimum.flat()) {
    const shape = model.shapes.of(pod)
    counts.set(shape, (counts.get(shape) ?? 0) + 1)
  }
  const required = allScopes(task.scope).find(scope => scope.required)?.required
  const regions: readonly Iterable<number>[] = required
    ? required.partition.members
    : [Array.from({ length: model.nodeCount }, (_, node) => node)]
  const found: { units: RemovalUnit[]; cost: number }[] = []
  for (const [shape, count] of counts) {
    const { caps } = model.roomOf(shape)
    const mostGain = mostOnOneNode(model, shape)
    const byRegion: { units: RemovalUnit[]; cost: number }[] = []
    for (const nodes of regions) {
      let missing = count
      for (const node of nodes) missing -= caps[node]!
      missing = Math.max(1, missing)
      // Skips a region that cannot be cheaper than the present proposals.
      const worst = byRegion[mostRegions - 1]
      if (worst && worst.cost <= missing / mostGain) continue
      const units: RemovalUnit[] = []
      let gainedByFewest = 0
      for (const node of nodes) {
        for (const unit of unitsOn(model, shape, node, podsOn(node), caps[node]!)) {
          units.push(unit)
          if (unit.gain === unit.pods.length * mostGain) gainedByFewest += unit.gain
        }
        // No further unit gains more for each pod.
        if (gainedByFewest >= missing) break
      }
      const chosen = cheapest(units, missing)
      if (!chosen) continue
      byRegion.push({ units: chosen, cost: podsOf(chosen) })
      byRegion.sort((a, b) => a.cost - b.cost)
      byRegion.length = Math.min(byRegion.length, mostRegions)
    }
    found.push(...byRegion)
  }
  return found.sort((a, b) => a.cost - b.cost).map(({ units }) => units)
}

/** Pods of the shape that the largest amounts of all nodes hold. The removal of one pod gains at most this many. */
function mostOnOneNode(model: Model, shape: Shape): number {
  const most = shape.resources.map((index, i) => {
    const name = model.resources[index]!
    let largest = 0
    for (const { allocatable } of model.snapshot.nodes) largest = Math.max(largest, allocatable[name] ?? 0)
    return Math.floor(largest / shape.amounts[i]!)
  })
  return Math.max(1, Math.min(...most))
}

function podsOf(units: readonly RemovalUnit[]): number {
  return units.reduce((sum, { pods }) => sum + pods.length, 0)
}

/** Units by pods for each gained place, until the gain covers what is missing. */
function cheapest(units: RemovalUnit[], missing: number): RemovalUnit[] | undefined {
  units.sort((a, b) => a.pods.length / a.gain - b.pods.length / b.gain)
  let left = missing
  let taken = 0
  while (left > 0 && taken < units.length) left -= units[taken++]!.gain
  return left > 0 ? undefined : units.slice(0, taken)
}

/** Removes pods one by one, those with the lowest priority and the largest requests first. */
function unitsOn(
  model: Model,
  shape: Shape,
  node: number,
  pods: readonly SnapshotPod[],
  cap: number,
): RemovalUnit[] {
  if (pods.length === 0 || !model.allowed(shape)[node]) return []
  const names = shape.resources.map(index => model.resources[index]!)
  const free = shape.resources.map(index => model.freeOf(node, index))
  const room = () => Math.max(0, Math.min(...free.map((amount, i) => Math.floor(amount / shape.amounts[i]!))))
  const share = ({ needs }: SnapshotPod) => {
    let sum = 0
    for (let i = 0; i < names.length; i++) sum += (needs.requests[names[i]!] ?? 0) / shape.amounts[i]!
    return sum
  }
  const units: RemovalUnit[] = []
  let now = cap
  let removed: SnapshotPod[] = []
  const ranked = pods.map(pod => ({ pod, share: share(pod) }))
  ranked.sort((a, b) => a.pod.priority - b.pod.priority || b.share - a.share)
  for (const { pod } of ranked) {
    names.forEach((name, i) => {
      free[i]! += pod.needs.requests[name] ?? 0
    })
    removed.push(pod)
    const after = room()
    if (after <= now) continue
    units.push({ pods: removed, gain: after - now })
    now = after
    removed = []
  }
  return units
}
