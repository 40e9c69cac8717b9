// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import { compareText, sortedRecord } from '../order.ts'
import type { Amounts, Gang, Snapshot, SnapshotPod } from '../types.ts'

/**
 * Free amounts of one resource that a pod of the workload cannot use, as a weighted mean over the shapes of pods that
 * request the resource. The measure follows Weng et al., "Beware of Fragmentation" (ATC 2023).
 */
export interface Fragmentation {
  readonly resource: string
  readonly free: number
  readonly unusable: number
  /** unusable / free; 0 if nothing is free. */
  readonly ratio: number
  /** The unusable amount by the resource that is missing, or by the filter that rejects the pods. */
  readonly byReason: Amounts
  readonly shapes: readonly {
    /** A PodClique with pods of this shape; the name of a pod if none has one. */
    readonly podClique: string
    /** Share of the pods. */
    readonly weight: number
    readonly unusable: number
  }[]
}

/** `workload` are the pods whose shapes count, once for each pod. */
export function fragmentationOf(
  snapshot: Snapshot,
  template: readonly Gang[],
  workload: readonly SnapshotPod[],
): Fragmentation {
  const model = new Model({ ...snapshot, gangs: template })
  const resource = scarceResource(model, template)
  const index = model.resourceIndex(resource)
  const nodes = snapshot.nodes.map((_, node) => node)
  const free = nodes.reduce((sum, node) => sum + Math.max(0, model.freeOf(node, index)), 0)
  const isKnown = ({ needs }: SnapshotPod) =>
    Object.keys(needs.requests).every(name => model.resources.includes(name))
  const counted = Map.groupBy(
    workload.filter(pod => (pod.needs.requests[resource] ?? 0) > 0 && isKnown(pod)),
    pod => model.shapes.of(pod),
  )
  const total = [...counted.values()].reduce((sum, pods) => sum + pods.length, 0)
  const byReason: Record<string, number> = {}
  const shapes = [...counted].map(([shape, pods]) => {
    const weight = pods.length / total
    let unusable = 0
    for (const node of nodes) {
      const { amount, reason } = unusableOn(model, shape, node, index)
      if (amount === 0) continue
      unusable += amount
      byReason[reason] = (byReason[reason] ?? 0) + amount * weight
    }
    return {
      podClique: pods.find(({ podClique }) => podClique)?.podClique ?? pods[0]!.name,
      weight,
      unusable,
    }
  })
  const unusable = shapes.reduce((sum, shape) => sum + shape.weight * shape.unusable, 0)
  return {
    resource,
    free,
    unusable,
    ratio: free === 0 ? 0 : unusable / free,
    byReason: sortedRecord(byReason),
    shapes: shapes.sort((a, b) => b.weight - a.weight || compareText(a.podClique, b.podClique)),
  }
}

/** The resource of accelerators that the gangs request the most of, relative to the nodes; else cpu. */
function scarceResource(model: Model, template: readonly Gang[]): string {
  const pods = template.flatMap(({ groups }) => groups.flatMap(({ candidates }) => candidates))
  const requested = new Map<string, number>()
  for (const { needs } of pods)
    for (const [name, amount] of Object.entries(needs.requests))
      if (name.includes('/') || isDeviceResource(name))
        requested.set(name, (requested.get(name) ?? 0) + amount)
  const share = ([name, amount]: readonly [string, number]) =>
    amount / model.snapshot.nodes.reduce((sum, { allocatable }) => sum + (allocatable[name] ?? 0), 0)
  const [first] = [...requested].sort((a, b) => share(b) - share(a) || compareText(a[0], b[0]))
  return first?.[0] ?? 'cpu'
}

function unusableOn(
  model: Model,
  shape: Shape,
  node: number,
  resource: number,
): { amount: number; reason: string } {
  const free = Math.max(0, model.freeOf(node, resource))
  const capacity = model.capacity(shape, node)
  const amount = free - capacity * shape.amounts[shape.resources.indexOf(resource)]!
  if (amount <= 0) return { amount: 0, reason: '' }
  const exclusion = model.exclusion(shape, node)
  if (exclusion) return { amount, reason: exclusion }
  const limits = shape.resources.filter(
    (one, at) => Math.floor(Math.max(0, model.freeOf(node, one)) / shape.amounts[at]!) <= capacity,
  )
  const limit = limits.find(one => one !== resource) ?? limits[0]
  // Without a resource that limits, host ports or anti-affinity allow one pod on a node.
  return { amount, reason: limit === undefined ? 'affinity' : model.resources[limit]! }
}
