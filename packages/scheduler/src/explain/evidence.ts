// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Shape } from '../model/shapes.ts'
import { podsByNode } from '../model/usage.ts'
import { compareText } from '../order.ts'
import type { GangTask } from '../planner/gang-demand.ts'
import type { Scope } from '../planner/scopes.ts'
import type {
  Amounts,
  DomainEvidence,
  DomainName,
  Evidence,
  Gang,
  Holder,
  NodeEvidence,
  NodeExclusion,
  SnapshotPod,
} from '../types.ts'

const mostDomains = 5
const mostHolders = 10

/** Evidence by what it depends on. Thousands of equal gangs can wait. */
const knownEvidence = new WeakMap<Model, Map<string, Evidence>>()

/** Facts about the nodes that a gang could use, in the state that the plan leaves. Equal gangs share them. */
export function evidenceOf(model: Model, task: GangTask, scope: Scope | undefined): Evidence {
  const key = evidenceKey(model, task, scope)
  if (key === undefined) return newEvidence(model, task, scope)
  const known = knownEvidence.get(model) ?? new Map<string, Evidence>()
  knownEvidence.set(model, known)
  const evidence = known.get(key) ?? newEvidence(model, task, scope)
  known.set(key, evidence)
  const names = task.gang.groups.flatMap(({ name }, index) => (task.minimum[index]!.length > 0 ? [name] : []))
  return {
    ...evidence,
    groups: evidence.groups.map((group, i) => ({ ...group, podGroup: names[i]! })),
  }
}

/** Gangs with the same key have the same evidence, except for the names of their groups. Undefined if it depends on own pods. */
function evidenceKey(model: Model, task: GangTask, scope: Scope | undefined): string | undefined {
  const { gang, minimum, running } = task
  if (running.some(nodes => nodes.length > 0)) return undefined
  if (gangsWithPods(model).has(`${gang.namespace}/${gang.name}`)) return undefined
  return JSON.stringify([
    gang.levels.map(({ domain, key }) => [domain, key]),
    minimum.map(pods => countsInOrder(model, pods)),
    scope && [scope.groups, scope.required?.partition.id],
  ])
}

/** Shapes by their first pod, with the number of their pods. */
function countsInOrder(model: Model, pods: readonly SnapshotPod[]): [shape: number, count: number][] {
  const counts = new Map<number, number>()
  for (const pod of pods) {
    const { id } = model.shapes.of(pod)
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts]
}

const knownGangs = new WeakMap<Model, ReadonlySet<string>>()

/** Gangs that hold resources of nodes, also by pods that terminate. */
function gangsWithPods(model: Model): ReadonlySet<string> {
  let gangs = knownGangs.get(model)
  if (!gangs) {
    const found = new Set<string>()
    for (const { namespace, gang } of model.snapshot.boundPods)
      if (gang !== undefined) found.add(`${namespace}/${gang}`)
    gangs = found
    knownGangs.set(model, gangs)
  }
  return gangs
}

function newEvidence(model: Model, task: GangTask, scope: Scope | undefined): Evidence {
  const partition = scope?.required?.partition
  const domains = partition ? domainsOf(model, task, scope, partition) : []
  const best = domains[0]
  const nodes = nodeEvidence(model, task)
  return {
    domains: domains.slice(0, mostDomains).map(({ evidence }) => evidence),
    domainsTried: domains.length,
    nodes: nodes.evidence,
    groups: task.gang.groups.flatMap((group, index) => {
      const pods = task.minimum[index]!
      if (pods.length === 0) return []
      return [
        { podGroup: group.name, need: pods.length, placeable: greedyCount(model, pods, nodes.eligible) },
      ]
    }),
    holders: holdersOf(model, task, best ? best.nodes : acceptingNodes(model, task.minimum.flat())),
  }
}

/** The domain by names of levels. */
export function domainName(gang: Gang, partition: Partition, domain: number): DomainName {
  const values = partition.domains[domain]!
  return Object.fromEntries(
    partition.keys.map((key, i) => [gang.levels.find(level => level.key === key)?.domain ?? key, values[i]!]),
  )
}

interface DomainFinding {
  readonly evidence: DomainEvidence
  readonly nodes: Int32Array
}

/**
 * Domains by the number of pods of the scope that they can hold, best first. Running pods of the scope restrict it to
 * their domain.
 */
export function domainsOf(
  model: Model,
  task: GangTask,
  scope: Scope,
  partition: Partition,
  withPinned = true,
): DomainFinding[] {
  const running = new Set(
    scope.groups.flatMap(group => task.running[group]!.map(node => partition.domainOf[node]!)),
  )
  running.delete(-1)
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  const wanted = countsByShape(model, pods)
  const total = totalRequests(pods)
  return partition.members
    .map((nodes, domain) => ({ nodes, domain }))
    .filter(({ domain }) => !withPinned || running.size === 0 || running.has(domain))
    .map(({ nodes, domain }) => {
      const short = shortage(model, total, nodes)
      return {
        nodes,
        domain,
        fits: greedyFill(model, wanted, nodes),
        short,
        missing: Object.values(short).reduce((sum, amount) => sum + amount, 0),
      }
    })
    .sort((a, b) => b.fits - a.fits || a.missing - b.missing || compareDomains(partition, a.domain, b.domain))
    .map(({ nodes, domain, fits, short }) => ({
      nodes,
      evidence: { domain: domainName(task.gang, partition, domain), fits, need: pods.length, short },
    }))
}

function compareDomains({ domains }: Partition, left: number, right: number): number {
  return compareText(JSON.stringify(domains[left]), JSON.stringify(domains[right]))
}

/** Counts the pods that fit on the nodes, the largest first. A lower bound: more may fit together. */
export function greedyCount(model: Model, pods: readonly SnapshotPod[], nodes: Iterable<number>): number {
  return greedyFill(model, countsByShape(model, pods), nodes)
}

interface ShapeCount {
  readonly shape: Shape
  readonly count: number
}

/** Shapes with the number of their pods, the largest first. */
function countsByShape(model: Model, pods: readonly SnapshotPod[]): ShapeCount[] {
  const counts = new Map<Shape, number>()
  for (const pod of pods) {
    const shape = model.shapes.of(pod)
    counts.set(shape, (counts.get(shape) ?? 0) + 1)
  }
  const size = ({ amounts }: Shape) => amounts.reduce((sum, amount) => sum + Math.log1p(amount), 0)
  return [...counts]
    .map(([shape, count]) => ({ shape, count }))
    .sort((a, b) => size(b.shape) - size(a.shape) || a.shape.id - b.shape.id)
}

function greedyFill(model: Model, wanted: readonly ShapeCount[], nodes: Iterable<number>): number {
  const placed: { shape: Shape; node: number; count: number }[] = []
  let total = 0
  wanted.forEach(({ shape, count }, position) => {
    const { caps } = model.roomOf(shape)
    // The last shape leaves nothing to place, so only the sum matters.
    if (position === wanted.length - 1) {
      let sum = 0
      for (const node of nodes) sum = shape.shared.length > 0 ? Math.max(sum, caps[node]!) : sum + caps[node]!
      total += Math.min(count, sum)
      return
    }
    let left = count
    const useful = [...nodes].filter(node => caps[node]! > 0).sort((a, b) => caps[a]! - caps[b]! || a - b)
    // Pods that share a claim run on one node.
    if (shape.shared.length > 0) useful.splice(0, useful.length - 1)
    for (const node of useful) {
      const taken = Math.min(left, caps[node]!)
      if (taken === 0) break
      placed.push({ shape, node, count: taken })
      left -= taken
    }
    total += count - left
    for (const entry of placed) if (entry.shape === shape) model.place(shape, entry.node, entry.count)
  })
  for (const { shape, node, count } of placed) model.place(shape, node, -count)
  return total
}

export function totalRequests(pods: readonly SnapshotPod[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const { needs } of pods)
    for (const name in needs.requests) total[name] = (total[name] ?? 0) + needs.requests[name]!
  return total
}

/** Free amounts of a resource on nodes, without negative ones. */
export function freeAmount(model: Model, nodes: Iterable<number>, resource: string): number {
  const index = model.resourceIndex(resource)
  let sum = 0
  for (const node of nodes) sum += Math.max(0, model.freeOf(node, index))
  return sum
}

/** Amounts of the total that are not free on the nodes. */
export function shortage(model: Model, total: Amounts, nodes: Iterable<number>): Amounts {
  const entries = Object.entries(total)
    .map(([name, amount]) => [name, amount - freeAmount(model, nodes, name)] as const)
    .filter(([, missing]) => missing > 0)
    .sort(([left], [right]) => compareText(left, right))
  return Object.fromEntries(entries)
}

function nodeEvidence(model: Model, task: GangTask): { evidence: NodeEvidence; eligible: number[] } {
  const shapes = [...new Set(task.minimum.flat().map(pod => model.shapes.of(pod)))]
  const excluded: Record<NodeExclusion, number> = {
    cordon: 0,
    taint: 0,
    selector: 0,
    resources: 0,
    ports: 0,
    affinity: 0,
    volume: 0,
    claim: 0,
  }
  const eligible: number[] = []
  const rooms = shapes.map(shape => model.roomOf(shape).caps)
  for (let node = 0; node < model.nodeCount; node++) {
    if (rooms.some(caps => caps[node]! > 0)) {
      eligible.push(node)
      continue
    }
    const accepting = shapes.filter(shape => model.allowed(shape)[node])
    if (accepting.length > 0) excluded[lacksDevices(model, accepting, node) ? 'claim' : 'resources']++
    else if (shapes[0]) excluded[model.exclusion(shapes[0], node) ?? 'resources']++
  }
  return { evidence: { total: model.nodeCount, eligible: eligible.length, excluded }, eligible }
}

/** Devices are all that the node lacks for a pod of some shape. */
function lacksDevices(model: Model, shapes: readonly Shape[], node: number): boolean {
  return shapes.some(({ resources, amounts, shared }) => {
    const isShort = (resource: number, i: number) => model.freeOf(node, resource) < amounts[i]!
    const isDevice = (resource: number) => isDeviceResource(model.resources[resource]!)
    const short = resources.filter(isShort)
    return short.every(isDevice) && (short.length > 0 || shared.length > 0)
  })
}

/** One pod for each kind of needs. */
export function distinct(pods: readonly SnapshotPod[]): SnapshotPod[] {
  return [...new Map(pods.map(pod => [pod.needs, pod])).values()]
}

/** Nodes that no static filter excludes for any missing pod, whatever is free on them. */
export function acceptingNodes(model: Model, pods: readonly SnapshotPod[]): number[] {
  const masks = [...new Set(pods.map(pod => model.shapes.of(pod)))].map(shape => model.allowed(shape))
  const nodes: number[] = []
  for (let node = 0; node < model.nodeCount; node++) if (masks.some(mask => mask[node])) nodes.push(node)
  return nodes
}

/** Reports whether a pod requests one of the resources. Pods with equal needs share one object, which is read once. */
export function requesting(names: readonly string[]): (pod: SnapshotPod) => boolean {
  const known = new Map<SnapshotPod['needs'], boolean>()
  return ({ needs }) => {
    let found = known.get(needs)
    if (found === undefined) {
      found = names.some(name => needs.requests[name])
      known.set(needs, found)
    }
    return found
  }
}

/** Bound pods on the nodes that hold resources which the gang requests, by PodGang or alone. */
function holdersOf(model: Model, task: GangTask, nodes: Iterable<number>): Holder[] {
  const isNear = new Uint8Array(model.nodeCount)
  for (const node of nodes) isNear[node] = 1
  const wanted = Object.keys(totalRequests(task.minimum.flat())).filter(name => name !== 'pods')
  const byGang = new Map<string, { namespace: string; name: string; pods: SnapshotPod[] }>()
  // Bound pods are sorted by name, so the first pods without a gang are listed.
  const alone: SnapshotPod[] = []
  const { nodes: all, boundPods } = model.snapshot
  const { nodeOf } = podsByNode(all, boundPods)
  const holdsWanted = requesting(wanted)
  for (let at = 0; at < boundPods.length; at++) {
    const node = nodeOf[at]!
    if (node < 0 || !isNear[node]) continue
    const pod = boundPods[at]!
    if (!holdsWanted(pod)) continue
    if (pod.gang === undefined) {
      if (alone.length < mostHolders) alone.push(pod)
      continue
    }
    if (pod.namespace === task.gang.namespace && pod.gang === task.gang.name) continue
    const key = `${pod.namespace}/${pod.gang}`
    const known = byGang.get(key)
    if (known) known.pods.push(pod)
    else byGang.set(key, { namespace: pod.namespace, name: pod.gang, pods: [pod] })
  }
  const found = [
    ...[...byGang.values()].map(holder => ({ kind: 'PodGang' as const, ...holder })),
    ...alone.map(pod => ({ kind: 'Pod' as const, namespace: pod.namespace, name: pod.name, pods: [pod] })),
  ]
  const key = ({ kind, namespace, name }: (typeof found)[number]) => `${kind} ${namespace}/${name}`
  return found
    .sort((a, b) => b.pods.length - a.pods.length || compareText(key(a), key(b)))
    .slice(0, mostHolders)
    .map(({ kind, namespace, name, pods }) => {
      const total = totalRequests(pods)
      const resources = Object.fromEntries(wanted.filter(one => total[one]).map(one => [one, total[one]!]))
      return { kind, namespace, name, resources, pods: pods.length }
    })
}
