// SPDX-License-Identifier: Apache-2.0
import type { OpenPods } from '../model/coupling.ts'
import type { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import type { SnapshotPod } from '../types.ts'
import type { GangTask } from './gang-demand.ts'
import type { PlacedPod } from './place.ts'
import { allScopes } from './scopes.ts'

/** A satisfied gang, with the nodes of its pods by group: bound ones and those of this plan. */
export interface SatisfiedGang {
  readonly task: GangTask
  readonly nodes: number[][]
}

interface Queue {
  readonly owner: SatisfiedGang
  readonly group: number
  readonly waiting: SnapshotPod[]
}

/**
 * Places surplus pods one by one: highest priority first, then the group with the fewest pods relative to its minimum.
 * A group whose next pod fits nowhere is done, because room only shrinks.
 */
export function placeSurplus(
  model: Model,
  gangs: readonly SatisfiedGang[],
): { readonly task: GangTask; readonly placed: PlacedPod }[] {
  const queues: Queue[] = gangs.flatMap(owner =>
    owner.task.gang.groups.map((group, index) => {
      const taken = new Set(owner.task.minimum[index]!)
      return { owner, group: index, waiting: group.candidates.filter(pod => !taken.has(pod)) }
    }),
  )
  const placed: { task: GangTask; placed: PlacedPod }[] = []
  while (true) {
    const next = queues
      .filter(({ waiting }) => waiting.length > 0)
      .reduce<Queue | undefined>(
        (best, queue) => (best && !comesBefore(queue, best) ? best : queue),
        undefined,
      )
    if (!next) return placed
    const { owner, group, waiting } = next
    const pod = waiting[0]!
    const isPlaceable = pod.needs.missing.length === 0 && pod.needs.unsupported.length === 0
    const node = isPlaceable ? bestNode(model, owner, group, model.shapes.of(pod)) : undefined
    if (node === undefined) {
      // Pods of another shape may still fit.
      const shape = model.shapes.of(pod)
      waiting.splice(0, waiting.length, ...waiting.filter(other => model.shapes.of(other) !== shape))
      continue
    }
    waiting.shift()
    model.place(model.shapes.of(pod), node)
    owner.nodes[group]!.push(node)
    placed.push({ task: owner.task, placed: { pod, group, node } })
  }
}

function comesBefore(left: Queue, right: Queue): boolean {
  const { priority } = left.owner.task.gang
  if (priority !== right.owner.task.gang.priority) return priority > right.owner.task.gang.priority
  return ratio(left) < ratio(right)
}

function ratio({ owner, group }: Queue): number {
  return owner.nodes[group]!.length / Math.max(1, owner.task.gang.groups[group]!.minReplicas)
}

const noPods: OpenPods = new Map()

/** The tightest node that keeps all required scopes, with preferred domains that the scope uses already first. */
function bestNode(model: Model, owner: SatisfiedGang, group: number, shape: Shape): number | undefined {
  const scopes = allScopes(owner.task.scope).filter(({ groups }) => groups.includes(group))
  const nodesOf = (groups: readonly number[]) => groups.flatMap(index => owner.nodes[index]!)
  const required = scopes.flatMap(({ required, groups }) => {
    if (!required) return []
    const { domainOf } = required.partition
    const domains = new Set(nodesOf(groups).map(node => domainOf[node]!))
    domains.delete(-1)
    return [{ domainOf, domains }]
  })
  const { replica } = owner.task
  if (replica) {
    const { domainOf } = replica.partition
    const domains = new Set([...replica.running, ...owner.nodes.flat()].map(node => domainOf[node]!))
    domains.delete(-1)
    required.push({ domainOf, domains })
  }
  const preferred = scopes.flatMap(({ preferred, groups }) =>
    (preferred?.partitions ?? []).map(({ domainOf }) => ({
      domainOf,
      domains: new Set(nodesOf(groups).map(node => domainOf[node]!)),
    })),
  )
  const isCoupled = model.isCoupled(shape)
  let best: { node: number; misses: number; unused: number; room: number } | undefined
  for (let node = 0; node < model.nodeCount; node++) {
    const room = model.capacity(shape, node)
    if (room === 0) continue
    const isInside = required.every(({ domainOf, domains }) => {
      const domain = domainOf[node]!
      return domain >= 0 && (domains.size === 0 || domains.has(domain))
    })
    if (!isInside || (isCoupled && model.hasRules && !model.coupling.allows(shape, node, noPods))) continue
    const misses = preferred.filter(({ domainOf, domains }) => !domains.has(domainOf[node]!)).length
    const unused = model.podsOn[node]! > 0 ? 0 : 1
    const isBetter =
      !best ||
      misses < best.misses ||
      (misses === best.misses && (unused < best.unused || (unused === best.unused && room < best.room)))
    if (isBetter) best = { node, misses, unused, room }
  }
  return best?.node
}
