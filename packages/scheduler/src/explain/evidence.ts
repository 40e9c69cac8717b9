// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
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

/** Facts about the nodes that a gang could use, in the state that the plan leaves. */
export function evidenceOf(model: Model, task: GangTask, scope: Scope | undefined): Evidence {
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
  readonly nodes: readonly number[]
}

/** Domains by how many pods of the scope they can hold, best first. */
function domainsOf(model: Model, task: GangTask, scope: Scope, partition: Partition): DomainFinding[] {
  const members: number[][] = partition.domains.map(() => [])
  partition.domainOf.forEach((domain, node) => {
    if (domain >= 0) members[domain]!.push(node)
  })
  const running = new Set(
    scope.groups.flatMap(group => task.running[group]!.map(node => partition.domainOf[node]!)),
  )
  running.delete(-1)
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  return members
    .map((nodes, domain) => ({ nodes, domain }))
    .filter(({ domain }) => running.size === 0 || running.has(domain))
    .map(({ nodes, domain }): DomainFinding & { missing: number; name: string } => {
      const evidence = {
        domain: domainName(task.gang, partition, domain),
        fits: greedyCount(model, pods, nodes),
        need: pods.length,
        short: shortage(model, pods, nodes),
      }
      const missing = Object.values(evidence.short).reduce((sum, amount) => sum + amount, 0)
      return { evidence, nodes, missing, name: JSON.stringify(partition.domains[domain]) }
    })
    .sort((a, b) => b.evidence.fits - a.evidence.fits || a.missing - b.missing || compareText(a.name, b.name))
}

/** Counts the pods that fit on the nodes, placed one by one, the largest first. A lower bound: more may fit together. */
export function greedyCount(model: Model, pods: readonly SnapshotPod[], nodes: readonly number[]): number {
  const placed: { pod: SnapshotPod; node: number }[] = []
  const size = (pod: SnapshotPod) =>
    Object.values(pod.needs.requests).reduce((sum, amount) => sum + Math.log1p(amount), 0)
  for (const pod of pods.toSorted((a, b) => size(b) - size(a) || compareText(a.name, b.name))) {
    const shape = model.shapes.of(pod)
    let best = -1
    let room = Number.POSITIVE_INFINITY
    for (const node of nodes) {
      const capacity = model.capacity(shape, node)
      if (capacity > 0 && capacity < room) {
        best = node
        room = capacity
      }
    }
    if (best < 0) continue
    model.place(shape, best)
    placed.push({ pod, node: best })
  }
  for (const { pod, node } of placed) model.remove(model.shapes.of(pod), node)
  return placed.length
}

export function totalRequests(pods: readonly SnapshotPod[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const { needs } of pods)
    for (const [name, amount] of Object.entries(needs.requests)) total[name] = (total[name] ?? 0) + amount
  return total
}

/** Free amounts of a resource on nodes, without negative ones. */
export function freeAmount(model: Model, nodes: readonly number[], resource: string): number {
  const index = model.resourceIndex(resource)
  return nodes.reduce((sum, node) => sum + Math.max(0, model.freeOf(node, index)), 0)
}

export function shortage(model: Model, pods: readonly SnapshotPod[], nodes: readonly number[]): Amounts {
  const entries = Object.entries(totalRequests(pods))
    .map(([name, amount]) => [name, amount - freeAmount(model, nodes, name)] as const)
    .filter(([, missing]) => missing > 0)
    .sort(([left], [right]) => compareText(left, right))
  return Object.fromEntries(entries)
}

export function nodeEvidence(model: Model, task: GangTask): { evidence: NodeEvidence; eligible: number[] } {
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
  for (let node = 0; node < model.nodeCount; node++) {
    const accepting = shapes.filter(shape => model.allowed(shape)[node])
    if (accepting.some(shape => model.capacity(shape, node) > 0)) eligible.push(node)
    else if (accepting.length > 0) excluded.resources++
    else if (shapes[0]) excluded[model.exclusion(shapes[0], node) ?? 'resources']++
  }
  return { evidence: { total: model.nodeCount, eligible: eligible.length, excluded }, eligible }
}

/** Nodes that no static filter excludes for any missing pod, whatever is free on them. */
export function acceptingNodes(model: Model, pods: readonly SnapshotPod[]): number[] {
  const masks = [...new Set(pods.map(pod => model.shapes.of(pod)))].map(shape => model.allowed(shape))
  const nodes: number[] = []
  for (let node = 0; node < model.nodeCount; node++) if (masks.some(mask => mask[node])) nodes.push(node)
  return nodes
}

/** Bound pods on the nodes that hold resources which the gang requests, by PodGang or alone. */
function holdersOf(model: Model, task: GangTask, nodes: readonly number[]): Holder[] {
  const names = new Set(nodes.map(node => model.snapshot.nodes[node]!.name))
  const wanted = Object.keys(totalRequests(task.minimum.flat())).filter(name => name !== 'pods')
  const holders = new Map<string, { holder: Omit<Holder, 'resources' | 'pods'>; pods: SnapshotPod[] }>()
  for (const pod of model.snapshot.boundPods) {
    if (!names.has(pod.node ?? '') || !wanted.some(name => pod.needs.requests[name])) continue
    if (pod.namespace === task.gang.namespace && pod.gang === task.gang.name) continue
    const kind = pod.gang === undefined ? 'Pod' : 'PodGang'
    const name = pod.gang ?? pod.name
    const key = `${kind} ${pod.namespace}/${name}`
    const known = holders.get(key)
    if (known) known.pods.push(pod)
    else holders.set(key, { holder: { kind, namespace: pod.namespace, name }, pods: [pod] })
  }
  return [...holders]
    .map(([key, { holder, pods }]) => {
      const total = totalRequests(pods)
      const resources = Object.fromEntries(
        wanted.filter(name => total[name]).map(name => [name, total[name]!]),
      )
      return { key, holder: { ...holder, resources, pods: pods.length } }
    })
    .sort((a, b) => b.holder.pods - a.holder.pods || compareText(a.key, b.key))
    .slice(0, mostHolders)
    .map(({ holder }) => holder)
}
