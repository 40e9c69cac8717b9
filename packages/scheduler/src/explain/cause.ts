// SPDX-License-Identifier: Apache-2.0

import { keepsAway, tolerates } from '../filters/taints.ts'
import type { Relaxation } from '../model/model.ts'
import { Model } from '../model/model.ts'
import { compareText } from '../order.ts'
import type { Cycle } from '../planner/cycle.ts'
import { type GangTask, taskOf } from '../planner/gang-demand.ts'
import { allScopes, type Scope } from '../planner/scopes.ts'
import type { ExplanationCode, Snapshot, SnapshotPod } from '../types.ts'
import type { Facts } from './catalogue.ts'
import { acceptingNodes, domainName, freeAmount, greedyCount, shortage, totalRequests } from './evidence.ts'
import { amountsText, amountText, domainText, namesText, podsText, scopeText } from './text.ts'
import { type Answer, knownPlacements, wouldFit } from './trial.ts'
import {
  fromScratch,
  unpinned,
  withGang,
  withNodes,
  withoutBoundPods,
  withoutRequiredLevels,
  withRequired,
} from './variants.ts'

export interface Cause {
  readonly code: ExplanationCode
  readonly facts: Facts
  readonly scope?: Scope
  readonly level?: string
  readonly waitsFor?: { readonly kind: string; readonly namespace: string; readonly name: string }
}

/** Everything that a row of the table reads. */
interface Case {
  readonly cycle: Cycle
  readonly snapshot: Snapshot
  readonly index: number
  readonly task: GangTask
  readonly before: readonly GangTask[]
  readonly pods: readonly SnapshotPod[]
  readonly fits: (change: Snapshot, relaxed?: readonly Relaxation[], before?: readonly number[]) => Answer
}

type Row = (one: Case) => Cause | undefined

const readinessTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Filters that the Impossible rows leave out: they look at allocatable, selectors and required levels only. */
const emptyCluster: readonly Relaxation[] = ['cordon', 'taint', 'ports', 'affinity', 'volume', 'boundPods']

/** The rows of the table in order, for gangs whose minimum is proved not to fit. The first that holds is the cause. */
const rows: readonly Row[] = [
  tooLarge,
  clusterTooSmall,
  domainTooSmall,
  pinnedDomainFull,
  terminating,
  notReady,
  cordoned,
  taintsNotTolerated,
  heldForEarlierGang,
  portsInUse,
  podAffinityUnsatisfied,
  volumeUnavailable,
  podLimitReached,
  noDomainFits,
  nodesFragmented,
]

export function causeOf(cycle: Cycle, index: number, before: readonly GangTask[], limit: number): Cause {
  const { snapshot } = cycle.model
  const task = taskOf(cycle.model, snapshot.gangs[index]!, index)
  const kept = before.map(other => other.index)
  const known = knownPlacements(cycle)
  const one: Case = {
    cycle,
    snapshot,
    index,
    task,
    before,
    pods: task.minimum.flat(),
    fits: (change, relaxed = [], earlier = kept) =>
      wouldFit({ snapshot: change, relaxed: new Set(relaxed), before: earlier, known }, index, limit),
  }
  for (const row of rows) {
    const cause = row(one)
    if (cause) return cause
  }
  return insufficientCapacity(one)
}

/** Misconfigured rows that need no search. They hold for blocked gangs too. */
export function misconfiguration(model: Model, index: number): Cause | undefined {
  const { snapshot } = model
  const gang = snapshot.gangs[index]!
  const task = taskOf(model, gang, index, true)
  for (const scope of allScopes(task.scope)) {
    if (!scope.required || scope.required.partition.domains.length > 0) continue
    if (!scope.groups.some(group => task.minimum[group]!.length > 0)) continue
    const { key } = scope.required
    const level = gang.levels.find(level => level.key === key)?.domain ?? key
    return { code: 'TopologyLevelUnlabelled', facts: { level, key }, scope, level }
  }
  return undefined
}

/** Rows that look at one pod and the labels and resources of nodes. */
export function unknownNeeds(model: Model, index: number): Cause | undefined {
  const { nodes } = model.snapshot
  const gang = model.snapshot.gangs[index]!
  const { minimum } = taskOf(model, gang, index, true)
  for (const [group, pods] of minimum.entries()) {
    const clique = gang.groups[group]!.name
    for (const { needs } of pods)
      for (const resource of Object.keys(needs.requests))
        if (resource !== 'pods' && !nodes.some(({ allocatable }) => allocatable[resource] !== undefined))
          return { code: 'ResourceUnknown', facts: { resource, clique } }
  }
  const relaxed = new Model(model.snapshot, new Set([...emptyCluster, 'podCount']))
  for (const [group, pods] of minimum.entries()) {
    const clique = gang.groups[group]!.name
    for (const pod of pods)
      if (!relaxed.allowed(relaxed.shapes.of(pod)).includes(1))
        return { code: 'SelectorMatchesNoNode', facts: { clique, n: nodes.length } }
  }
  return undefined
}

function tooLarge({ snapshot, task }: Case): Cause | undefined {
  const empty = new Model({ ...snapshot, boundPods: [] }, new Set(emptyCluster))
  for (const [group, pods] of task.minimum.entries())
    for (const pod of pods) {
      const shape = empty.shapes.of(pod)
      const nodes = acceptingNodes(empty, [pod])
      if (nodes.some(node => empty.capacity(shape, node) > 0)) continue
      const clique = task.gang.groups[group]!.name
      // The resource that falls short by the largest factor on the best node.
      const missing = Object.entries(pod.needs.requests)
        .map(([resource, need]) => {
          const largest = nodes.reduce(
            (best, node) => {
              const have = snapshot.nodes[node]!.allocatable[resource] ?? 0
              return have > best.have ? { node, have } : best
            },
            { node: nodes[0]!, have: -1 },
          )
          return { resource, need, ...largest, factor: need / Math.max(1, largest.have) }
        })
        .sort((a, b) => b.factor - a.factor || compareText(a.resource, b.resource))[0]!
      return {
        code: 'PodTooLarge',
        facts: {
          clique,
          need: amountText(missing.resource, missing.need),
          resource: missing.resource,
          node: snapshot.nodes[missing.node]!.name,
          have: amountText(missing.resource, missing.have),
        },
      }
    }
  return undefined
}

/** The cluster with empty nodes and only this gang, from scratch. */
function emptied({ snapshot, index }: Case): Snapshot {
  return withGang({ ...snapshot, boundPods: [] }, index, fromScratch)
}

function clusterTooSmall(one: Case): Cause | undefined {
  const snapshot = withGang(emptied(one), one.index, withoutRequiredLevels)
  if (one.fits(snapshot, emptyCluster, []) !== 'no') return undefined
  const model = new Model(snapshot, new Set(emptyCluster))
  const pods = taskOf(model, snapshot.gangs[one.index]!, one.index).minimum.flat()
  const nodes = acceptingNodes(model, pods)
  return {
    code: 'ClusterTooSmall',
    facts: { need: podsText(pods.length), n: nodes.length, have: podsText(greedyCount(model, pods, nodes)) },
  }
}

function domainTooSmall(one: Case): Cause | undefined {
  const snapshot = emptied(one)
  if (one.fits(snapshot, emptyCluster, []) !== 'no') return undefined
  const model = new Model(snapshot, new Set(emptyCluster))
  const task = taskOf(model, snapshot.gangs[one.index]!, one.index)
  const scope = failingScope(task, change =>
    one.fits(withGang(snapshot, one.index, change), emptyCluster, []),
  )
  if (!scope) return undefined
  const best = bestDomain(model, task, scope)
  const level = levelOf(one, scope)
  return {
    code: 'DomainTooSmall',
    scope,
    level,
    facts: {
      scope: scopeText(scope),
      need: podsText(best.need),
      level,
      domain: best.name,
      have: podsText(best.have),
    },
  }
}

/** The first scope without whose required level the gang fits; else the first scope with a required level. */
function failingScope(
  task: GangTask,
  fits: (change: (gang: GangTask['gang']) => GangTask['gang']) => Answer,
): Scope | undefined {
  const scopes = allScopes(task.scope).filter(({ required }) => required)
  const found = scopes.find(
    ({ name, kind }) => kind !== 'replica' && fits(gang => withRequired(gang, name, kind, null)) === 'yes',
  )
  return found ?? scopes[0]
}

function levelOf({ task }: Case, { required }: Scope): string {
  return task.gang.levels.find(({ key }) => key === required?.key)?.domain ?? required?.key ?? ''
}

function bestDomain(
  model: Model,
  task: GangTask,
  scope: Scope,
): { name: string; have: number; need: number; short: string; tried: number } {
  const { partition } = scope.required!
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  const members: number[][] = partition.domains.map(() => [])
  partition.domainOf.forEach((domain, node) => {
    if (domain >= 0) members[domain]!.push(node)
  })
  const rated = members.map((nodes, domain) => {
    const short = shortage(model, pods, nodes)
    return {
      name: domainText(domainName(task.gang, partition, domain)),
      have: greedyCount(model, pods, nodes),
      missing: Object.values(short).reduce((sum, amount) => sum + amount, 0),
      short,
    }
  })
  rated.sort((a, b) => b.have - a.have || a.missing - b.missing || compareText(a.name, b.name))
  const best = rated[0]!
  const missing =
    Object.keys(best.short).length > 0
      ? amountsText(best.short)
      : `room for ${podsText(pods.length - best.have)}`
  return { name: best.name, have: best.have, need: pods.length, short: missing, tried: rated.length }
}

function pinnedDomainFull(one: Case): Cause | undefined {
  const { task, snapshot, index, cycle } = one
  if (one.fits(withGang(snapshot, index, unpinned)) !== 'yes') return undefined
  const scope = allScopes(task.scope).find(
    ({ required, groups }) => required && groups.some(group => task.running[group]!.length > 0),
  )
  if (!scope?.required) return undefined
  const { partition } = scope.required
  const node = scope.groups
    .flatMap(group => task.running[group]!)
    .find(node => partition.domainOf[node]! >= 0)
  if (node === undefined) return undefined
  const domain = partition.domainOf[node]!
  const members = [...partition.domainOf.keys()].filter(member => partition.domainOf[member] === domain)
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  const short = shortage(cycle.model, pods, members)
  return {
    code: 'PinnedDomainFull',
    scope,
    level: levelOf(one, scope),
    facts: {
      scope: scopeText(scope),
      domain: domainText(domainName(task.gang, partition, domain)),
      short: Object.keys(short).length > 0 ? amountsText(short) : `room for ${podsText(pods.length)}`,
    },
  }
}

function terminating(one: Case): Cause | undefined {
  const leaving = one.snapshot.boundPods.filter(pod => pod.terminating)
  if (leaving.length === 0) return undefined
  if (one.fits(withoutBoundPods(one.snapshot, pod => pod.terminating)) !== 'yes') return undefined
  const nodes = [...new Set(leaving.map(({ node }) => node!))].sort(compareText)
  return { code: 'Terminating', facts: { n: leaving.length, nodes: namesText(nodes) } }
}

function notReady(one: Case): Cause | undefined {
  const isReadiness = ({ key }: { key: string }) => readinessTaints.includes(key)
  const nodes = one.snapshot.nodes.filter(({ taints }) => taints.some(isReadiness))
  if (nodes.length === 0) return undefined
  const ready = withNodes(one.snapshot, node => ({
    ...node,
    taints: node.taints.filter(taint => !isReadiness(taint)),
  }))
  if (one.fits(ready) !== 'yes') return undefined
  return { code: 'NodesNotReady', facts: { nodes: namesText(nodes.map(({ name }) => name)) } }
}

function cordoned(one: Case): Cause | undefined {
  const nodes = one.snapshot.nodes.filter(({ unschedulable }) => unschedulable)
  if (nodes.length === 0 || one.fits(one.snapshot, ['cordon']) !== 'yes') return undefined
  return { code: 'NodesCordoned', facts: { nodes: namesText(nodes.map(({ name }) => name)) } }
}

function taintsNotTolerated(one: Case): Cause | undefined {
  if (one.fits(one.snapshot, ['taint']) !== 'yes') return undefined
  for (const [group, pods] of one.task.minimum.entries())
    for (const { needs } of pods) {
      const found = one.snapshot.nodes
        .flatMap(({ taints }) => taints)
        .find(taint => keepsAway(taint) && !tolerates(needs.tolerations, taint))
      if (!found) continue
      const n = one.snapshot.nodes.filter(({ taints }) =>
        taints.some(taint => taint.key === found.key),
      ).length
      const taint = `${found.key}${found.value ? `=${found.value}` : ''}:${found.effect}`
      return { code: 'TaintsNotTolerated', facts: { clique: one.task.gang.groups[group]!.name, taint, n } }
    }
  return undefined
}

function heldForEarlierGang(one: Case): Cause | undefined {
  if (one.before.length === 0 || one.fits(one.snapshot, [], []) !== 'yes') return undefined
  // The last gang that has to go is the one that this gang waits for.
  const kept = one.before.map(({ index }) => index)
  const holder = one.before.findLast(
    ({ index }) =>
      one.fits(
        one.snapshot,
        [],
        kept.filter(other => other !== index),
      ) === 'yes',
  )
  const found = holder ?? one.before.at(-1)!
  const { gang } = found
  return {
    code: 'HeldForEarlierGang',
    facts: {
      holder: `PodGang ${gang.name}`,
      reason: gang.priority === one.task.gang.priority ? 'age' : 'priority',
      resources: amountsText(totalRequests(found.minimum.flat())),
    },
    waitsFor: { kind: 'PodGang', namespace: gang.namespace, name: gang.name },
  }
}

function portsInUse(one: Case): Cause | undefined {
  const ports = one.pods.flatMap(({ needs }) => needs.hostPorts)
  if (ports.length === 0 || one.fits(one.snapshot, ['ports']) !== 'yes') return undefined
  const { port } = ports[0]!
  const used = new Set(
    one.snapshot.boundPods
      .filter(({ needs }) => needs.hostPorts.some(other => other.port === port))
      .map(pod => pod.node),
  )
  return { code: 'PortsInUse', facts: { port, n: used.size, m: one.snapshot.nodes.length } }
}

function podAffinityUnsatisfied(one: Case): Cause | undefined {
  const { model } = one.cycle
  if (one.fits(one.snapshot, ['affinity']) !== 'yes') return undefined
  const group = one.task.minimum.findIndex(pods =>
    pods.some(({ needs }) => needs.podAffinity.length + needs.podAntiAffinity.length > 0),
  )
  const at = Math.max(0, group)
  const [pod] = one.task.minimum[at]!
  if (!pod) return undefined
  const rule = pod.needs.podAffinity.length > 0 ? 'pod affinity' : 'pod anti-affinity'
  return {
    code: 'PodAffinityUnsatisfied',
    facts: {
      rule,
      clique: one.task.gang.groups[at]!.name,
      have: acceptingNodes(model, [pod]).filter(node => model.capacity(model.shapes.of(pod), node) > 0)
        .length,
      need: one.task.minimum[at]!.length,
    },
  }
}

function volumeUnavailable(one: Case): Cause | undefined {
  const group = one.task.minimum.findIndex(pods => pods.some(({ needs }) => needs.volumeSelectors.length > 0))
  if (group < 0 || one.fits(one.snapshot, ['volume']) !== 'yes') return undefined
  const [pod] = one.task.minimum[group]!
  return {
    code: 'VolumeUnavailable',
    facts: { clique: one.task.gang.groups[group]!.name, n: acceptingNodes(one.cycle.model, [pod!]).length },
  }
}

function podLimitReached(one: Case): Cause | undefined {
  if (one.fits(one.snapshot, ['podCount']) !== 'yes') return undefined
  const { model } = one.cycle
  const pods = model.resourceIndex('pods')
  const full = acceptingNodes(model, one.pods).filter(node => model.freeOf(node, pods) < 1)
  return { code: 'PodLimitReached', facts: { n: full.length } }
}

function noDomainFits(one: Case): Cause | undefined {
  const { snapshot, index, task, cycle } = one
  if (one.fits(withGang(snapshot, index, withoutRequiredLevels)) !== 'yes') return undefined
  const scope = failingScope(task, change => one.fits(withGang(snapshot, index, change)))
  if (!scope) return undefined
  const best = bestDomain(cycle.model, task, scope)
  const level = levelOf(one, scope)
  return {
    code: 'NoDomainFits',
    scope,
    level,
    facts: {
      scope: scopeText(scope),
      need: podsText(best.need),
      level,
      domain: best.name,
      have: podsText(best.have),
      short: best.short,
      tried: best.tried,
    },
  }
}

/** The requested resource with the least room relative to the demand. */
function scarcest(
  { cycle, pods }: Case,
  nodes: readonly number[],
): { resource: string; need: number; free: number } {
  const rated = Object.entries(totalRequests(pods)).map(([resource, need]) => {
    const free = freeAmount(cycle.model, nodes, resource)
    return { resource, need, free, ratio: free / need }
  })
  rated.sort((a, b) => a.ratio - b.ratio || compareText(a.resource, b.resource))
  return rated[0]!
}

function nodesFragmented(one: Case): Cause | undefined {
  const nodes = acceptingNodes(one.cycle.model, one.pods)
  if (Object.keys(shortage(one.cycle.model, one.pods, nodes)).length > 0) return undefined
  const { resource } = scarcest(one, nodes)
  // The pod that needs most of the scarcest resource on one node.
  const largest = one.task.minimum
    .flatMap((pods, group) => pods.map(pod => ({ group, amount: pod.needs.requests[resource] ?? 0 })))
    .reduce((best, pod) => (pod.amount > best.amount ? pod : best))
  return {
    code: 'NodesFragmented',
    facts: {
      free: amountText(resource, freeAmount(one.cycle.model, nodes, resource)),
      resource,
      clique: one.task.gang.groups[largest.group]!.name,
      n: amountText(resource, largest.amount),
    },
  }
}

function insufficientCapacity(one: Case): Cause {
  const nodes = acceptingNodes(one.cycle.model, one.pods)
  const { resource, need, free } = scarcest(one, nodes)
  const names = new Set(nodes.map(node => one.snapshot.nodes[node]!.name))
  const holders = one.snapshot.boundPods.filter(
    pod => names.has(pod.node ?? '') && pod.needs.requests[resource],
  )
  return {
    code: 'InsufficientCapacity',
    facts: {
      short: amountText(resource, Math.max(0, need - free)),
      resource,
      need: amountText(resource, need),
      free: amountText(resource, free),
      n: nodes.length,
      holders: podsText(holders.length),
    },
  }
}
