// SPDX-License-Identifier: Apache-2.0
import { podsByNode } from '../../model/usage.ts'
import { removalUnits } from '../../planner/removal.ts'
import type { Fix, SnapshotPod } from '../../types.ts'
import { fewItems, type Search, smallestSet } from './search.ts'

const fewUnits = 8

/** At most `most` items that qualify. */
function firstOf<Item>(items: readonly Item[], qualifies: (item: Item) => boolean, most: number): Item[] {
  const found: Item[] = []
  for (const item of items) {
    if (found.length === most) break
    if (qualifies(item)) found.push(item)
  }
  return found
}

/** Pods of other gangs and of no gang. A gang never has to delete its own pods, and it needs those of its base gang. */
export function deletePods(search: Search): Fix | undefined {
  const { snapshot, gang, works } = search
  const isOwn = (pod: SnapshotPod) =>
    pod.namespace === gang.namespace &&
    pod.gang !== undefined &&
    [gang.name, gang.baseGang].includes(pod.gang)
  const isCandidate = (pod: SnapshotPod) => !pod.terminating && !isOwn(pod)
  const few = firstOf(snapshot.boundPods, isCandidate, fewItems + 1)
  const fixOf = (chosen: readonly SnapshotPod[]): Fix => {
    const holders = new Set(chosen.map(pod => pod.gang))
    const [holder] = holders
    return {
      op: 'DeletePods',
      pods: chosen.map(({ namespace, name }) => ({ namespace, name })),
      ...(holders.size === 1 && holder !== undefined ? { holder } : {}),
      cost: chosen.length,
    }
  }
  if (few.length <= fewItems) return smallestSet(few, fixOf, search)
  const { byNode } = podsByNode(snapshot.nodes, snapshot.boundPods)
  for (const units of removalUnits(search, node => byNode[node]?.filter(isCandidate) ?? [])) {
    let chosen = units
    const fix = () => fixOf(chosen.flatMap(unit => unit.pods))
    if (!works(fix())) continue
    // With one shape no smaller set is enough. Otherwise pods of another shape may have needed fewer.
    if (search.shapes.size > 1)
      for (const unit of units.slice(0, fewUnits)) {
        const before = chosen
        chosen = chosen.filter(other => other !== unit)
        if (chosen.length === 0 || !works(fix())) chosen = before
      }
    return fix()
  }
  return undefined
}
