// SPDX-License-Identifier: Apache-2.0
import type { Model, Relaxation } from '../model/model.ts'
import type { Cycle } from '../planner/cycle.ts'
import type { GangTask } from '../planner/gang-demand.ts'
import type { Reservation } from '../planner/reserve.ts'
import { allScopes, type Scope } from '../planner/scopes.ts'
import type { ExplanationCode, Snapshot, SnapshotPod } from '../types.ts'
import type { Facts } from './catalogue.ts'
import { domainsOf } from './evidence.ts'
import { amountsText, domainText, podsText } from './text.ts'
import type { KnownPlacement, TrialResult } from './trial.ts'
import { withRequired } from './variants.ts'

export interface Cause {
  readonly code: ExplanationCode
  readonly facts: Facts
  readonly scope?: Scope
  readonly level?: string
  readonly waitsFor?: { readonly kind: string; readonly namespace: string; readonly name: string }
}

/** The input of all rows of the table. */
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
    held?: readonly KnownPlacement[],
  ) => TrialResult
  /** Reservations of other gangs that the gang must not use. */
  readonly held: readonly { readonly reservation: Reservation; readonly pods: KnownPlacement }[]
}

export type Row = (one: Case) => Cause | undefined

/** Filters that the Impossible rows ignore: they consider only allocatable resources, selectors and required levels. */
export const emptyCluster: readonly Relaxation[] = [
  'cordon',
  'taint',
  'ports',
  'affinity',
  'volume',
  'claim',
  'boundPods',
]

/**
 * The first scope without whose required level the gang fits; otherwise the first scope with a required level. A scope without
 * missing pods holds nothing back.
 */
export function failingScope(
  task: GangTask,
  fits: (change: (gang: GangTask['gang']) => GangTask['gang']) => TrialResult,
  among: readonly Scope[] = allScopes(task.scope),
): Scope | undefined {
  const scopes = among.filter(
    ({ required, groups }) => required && groups.some(group => task.minimum[group]!.length > 0),
  )
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
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  const domains = domainsOf(model, task, scope, scope.required!.partition, false)
  const { domain, fits: have, short } = domains[0]!.evidence
  const missing =
    Object.keys(short).length > 0 ? amountsText(short) : `room for ${podsText(pods.length - have)}`
  return { name: domainText(domain), have, need: pods.length, short: missing, tried: domains.length }
}
