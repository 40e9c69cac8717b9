// SPDX-License-Identifier: Apache-2.0

import { allocateDevices } from '../devices/allocate.ts'
import type {
  ClaimAllocation,
  Decision,
  DomainName,
  Explanation,
  Gang,
  GangDecision,
  PodBinding,
  PodDecision,
  Policy,
  ScopeDecision,
  Snapshot,
  SnapshotPod,
  Verdict,
} from '../types.ts'
import { type Cycle, type GangResult, runCycle } from './cycle.ts'
import { type GangTask, need } from './gang-demand.ts'
import type { Obstacle } from './precheck.ts'
import { allScopes } from './scopes.ts'
import { placementScore, scoreOf } from './score.ts'

/** Builds the explanation of a gang that waits. */
export type Explain = (cycle: Cycle, index: number) => Explanation

const blockedCodes = new Set(['PodsNotCreated', 'PodsGated', 'BaseGangNotScheduled'])

/** Decides for all gangs. Pure: the same snapshot gives the same decision. */
export function planWith(
  explain: Explain,
  given: Snapshot,
  policy: Policy,
  now: number,
): Omit<Decision, 'missingGangs'> {
  const cycle = runCycle(given, policy, now)
  const { snapshot } = cycle.model
  const surplusOf = new Map<GangTask, Map<string, number>>()
  for (const { task, placed } of cycle.surplus) {
    const nodes = surplusOf.get(task) ?? new Map<string, number>()
    nodes.set(placed.pod.name, placed.node)
    surplusOf.set(task, nodes)
  }
  const gangs = cycle.results.map((result, index) => {
    const gang = snapshot.gangs[index]!
    const verdict = verdictOf(result)
    const nodes = nodesByPod(result, surplusOf)
    const minimumOf = new Set(
      result.kind === 'accepted'
        ? result.task.minimum.flat()
        : gang.groups.flatMap(group => group.candidates.slice(0, need(group))),
    )
    const provenance =
      (result.kind === 'unschedulable' && !result.proved) ||
      (result.kind === 'accepted' && !result.accepted.best)
        ? 'budget-exhausted'
        : 'proved'
    return {
      namespace: gang.namespace,
      name: gang.name,
      podCliqueSet: gang.podCliqueSet,
      replica: gang.replica,
      role: gang.role,
      ...(gang.baseGang === undefined ? {} : { baseGang: gang.baseGang }),
      priority: gang.priority,
      verdict,
      provenance,
      ...scored(cycle, result),
      pods: gang.groups.flatMap((group): PodDecision[] => {
        const waiting = [...group.candidates, ...group.gated]
        const isMinimum = (pod: (typeof waiting)[number], at: number) =>
          group.candidates.length >= need(group) ? minimumOf.has(pod) : at < need(group)
        return waiting.map((pod, at) => {
          const node = nodes.get(pod.name)
          return {
            name: pod.name,
            podGroup: group.name,
            node: node === undefined ? null : snapshot.nodes[node]!.name,
            part: isMinimum(pod, at) ? 'minimum' : 'surplus',
          }
        })
      }),
      ...(verdict === 'Scheduled' ? {} : { explanation: explain(cycle, index) }),
    } satisfies GangDecision
  })
  return {
    gangs,
    bindings: bindingsOf(cycle),
    evictions: cycle.evictions,
    nextDeadline: cycle.nextReservation,
    steps: cycle.budget.steps,
  }
}

function isBlocked(obstacle: Obstacle): boolean {
  return blockedCodes.has(obstacle.code) || (obstacle.code === 'ClaimNotFound' && !!obstacle.isAwaited)
}

function verdictOf(result: GangResult): Verdict {
  if (result.kind === 'satisfied' || result.kind === 'accepted') return 'Scheduled'
  if (result.kind === 'obstacle' && isBlocked(result.obstacle)) return 'Blocked'
  return 'Unschedulable'
}

function nodesByPod(
  result: GangResult,
  surplus: ReadonlyMap<GangTask, ReadonlyMap<string, number>>,
): Map<string, number> {
  if (result.kind !== 'satisfied' && result.kind !== 'accepted') return new Map()
  const nodes = new Map(surplus.get(result.task))
  if (result.kind === 'accepted')
    for (const { pod, node } of result.accepted.placement) nodes.set(pod.name, node)
  return nodes
}

/** Devices of the claims of all pods that this plan binds. */
function claimsOf({ results, surplus, model }: Cycle): Map<SnapshotPod, readonly ClaimAllocation[]> {
  const { nodes, freeDevices } = model.snapshot
  const placed = [
    ...results.flatMap(result => (result.kind === 'accepted' ? result.accepted.placement : [])),
    ...surplus.map(one => one.placed),
  ].filter(({ pod }) => pod.claims.length > 0)
  const claims = new Map<SnapshotPod, readonly ClaimAllocation[]>()
  for (const [node, own] of Map.groupBy(placed, ({ node }) => nodes[node]!.name)) {
    const pods = own.map(({ pod }) => pod)
    for (const [pod, allocations] of allocateDevices(node, pods, freeDevices.get(node) ?? []))
      claims.set(pod, allocations)
  }
  return claims
}

function bindingsOf(cycle: Cycle): PodBinding[] {
  const { results, surplus, model } = cycle
  const claims = claimsOf(cycle)
  const binding = (
    gang: Gang,
    placed: (typeof surplus)[number]['placed'],
    part: PodBinding['part'],
  ): PodBinding => ({
    namespace: gang.namespace,
    pod: placed.pod.name,
    uid: placed.pod.uid,
    node: model.snapshot.nodes[placed.node]!.name,
    gang: gang.name,
    podGroup: gang.groups[placed.group]!.name,
    part,
    ...(claims.has(placed.pod) && { claims: claims.get(placed.pod)! }),
    ...(placed.pod.volumeClaims.length > 0 && { volumeClaims: placed.pod.volumeClaims }),
  })
  return [
    ...results.flatMap(result =>
      result.kind === 'accepted'
        ? result.accepted.placement.map(placed => binding(result.task.gang, placed, 'minimum'))
        : [],
    ),
    ...surplus.map(({ task, placed }) => binding(task.gang, placed, 'surplus')),
  ]
}

/** Score and scopes. The score counts pods that run and the placed minimum, not surplus. */
function scored(cycle: Cycle, result: GangResult): Pick<GangDecision, 'placementScore' | 'scopes'> {
  if (result.kind === 'obstacle') return { scopes: [] }
  const { task } = result
  const placement = result.kind === 'accepted' ? result.accepted.placement : []
  const nodesOf = (group: number) => [
    ...task.running[group]!,
    ...placement.filter(placed => placed.group === group).map(({ node }) => node),
  ]
  const isPlaced = result.kind !== 'unschedulable'
  const { levels } = task.gang
  const levelOf = (key: string) => levels.find(level => level.key === key)?.domain ?? key
  const scopes = allScopes(task.scope).flatMap((scope): ScopeDecision[] => {
    if (!scope.required && !scope.preferred) return []
    const nodes = isPlaced ? scope.groups.flatMap(nodesOf) : []
    return [
      {
        name: scope.name,
        kind: scope.kind,
        ...(scope.required && {
          required: {
            level: levelOf(scope.required.key),
            key: scope.required.key,
            domain:
              nodes.length > 0
                ? domainName(cycle, task.gang, scope.required.partition.keys, nodes[0]!)
                : null,
          },
        }),
        ...(scope.preferred &&
          nodes.length > 0 && {
            preferred: {
              level: levelOf(scope.preferred.key),
              key: scope.preferred.key,
              ...scoreOf(scope.preferred, nodes),
            },
          }),
      },
    ]
  })
  if (task.gang.replicaScope) scopes.unshift(replicaDecision(cycle, task, isPlaced, nodesOf))
  return isPlaced ? { placementScore: placementScore(task.scope, nodesOf), scopes } : { scopes }
}

function replicaDecision(
  cycle: Cycle,
  { gang, replica }: GangTask,
  isPlaced: boolean,
  nodesOf: (group: number) => readonly number[],
): ScopeDecision {
  const { name, key } = gang.replicaScope!
  const [node] = isPlaced ? gang.groups.keys().flatMap(nodesOf).toArray() : []
  return {
    name,
    kind: 'replica',
    required: {
      level: gang.levels.find(level => level.key === key)?.domain ?? key,
      key,
      domain: node === undefined ? null : domainName(cycle, gang, replica!.partition.keys, node),
    },
  }
}

function domainName({ model }: Cycle, gang: Gang, keys: readonly string[], node: number): DomainName | null {
  const { labels } = model.snapshot.nodes[node]!
  const entries: [string, string][] = []
  for (const key of keys) {
    const value = labels[key]
    if (value === undefined) return null
    entries.push([gang.levels.find(level => level.key === key)?.domain ?? key, value])
  }
  return Object.fromEntries(entries)
}
