// SPDX-License-Identifier: Apache-2.0
import type { Model, Relaxation } from '../model/model.ts'
import { compareText } from '../order.ts'
import type { Cycle } from '../planner/cycle.ts'
import type { GangTask } from '../planner/gang-demand.ts'
import { allScopes, type Scope } from '../planner/scopes.ts'
import type { ExplanationCode, Snapshot, SnapshotPod } from '../types.ts'
import type { Facts } from './catalogue.ts'
import { domainName, greedyCount, shortage } from './evidence.ts'
import { amountsText, domainText, podsText } from './text.ts'
import type { TrialResult } from './trial.ts'
import { withRequired } from './variants.ts'

export interface Cause {
  readonly code: ExplanationCode
  readonly facts: Facts
  readonly scope?: Scope
  readonly level?: string
  readonly waitsFor?: { readonly kind: string; readonly namespace: string; readonly name: string }
}

/** Everything that a row of the table reads. */
export interface Case {
  readonly cycle: Cycle
  readonly snapshot: Snapshot
  readonly index: number
  readonly task: GangTask
  readonly before: readonly GangTask[]
  readonly pods: readonly SnapshotPod[]
  readonly fits: (
    change: Snapshot,
    relaxed?: readonly Relaxation[],
    before?: readonly number[],
  ) => TrialResult
}

export type Row = (one: Case) => Cause | undefined

/** Filters that the Impossible rows leave out: they look at allocatable, selectors and required levels only. */
export const emptyCluster: readonly Relaxation[] = [
  'cordon',
  'taint',
  'ports',
  'affinity',
  'volume',
  'boundPods',
]

/** The first scope without whose required level the gang fits; else the first scope with a required level. */
export function failingScope(
  task: GangTask,
  fits: (change: (gang: GangTask['gang']) => GangTask['gang']) => TrialResult,
): Scope | undefined {
  const scopes = allScopes(task.scope).filter(({ required }) => required)
  const found = scopes.find(
    ({ name, kind }) => kind !== 'replica' && fits(gang => withRequired(gang, name, kind, null)) === 'yes',
  )
  return found ?? scopes[0]
}

export function levelOf({ task }: Case, { required }: Scope): string {
  return task.gang.levels.find(({ key }) => key === required?.key)?.domain ?? required?.key ?? ''
}

export function bestDomain(
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
