// SPDX-License-Identifier: Apache-2.0
import { compareText } from '../order.ts'
import type { Cycle, GangResult } from '../planner/cycle.ts'
import { taskOf } from '../planner/gang-demand.ts'
import type { Obstacle } from '../planner/precheck.ts'
import type { Evidence, Explanation, Fix, Gang, Policy } from '../types.ts'
import { heldFor } from './capacity.ts'
import type { Cause } from './case.ts'
import { catalogue, messageOf } from './catalogue.ts'
import { causeOf } from './cause.ts'
import { evidenceOf } from './evidence.ts'
import type { FixAllowance } from './fixes/allowance.ts'
import { fixesFor } from './fixes/fixes.ts'
import { misconfiguration, unknownNeeds } from './misconfigured.ts'

/** The step limit of one counterfactual. An explanation is less important than the verdict, so its limit is lower. */
const mostSteps = 200_000

/** Explains why a gang waits: the dominant cause, evidence and verified fixes. */
export function explain(
  cycle: Cycle,
  index: number,
  policy: Policy,
  now: number,
  allowance: FixAllowance,
  /** Gangs for which fixes are searched. */
  isAsked: (gang: Gang) => boolean,
): Explanation {
  const gang = cycle.model.snapshot.gangs[index]!
  const result = cycle.results[index]!
  const cause = dominantCause(cycle, index, result, policy, now)
  const { code } = cause
  const { tier } = catalogue[code]
  const isProved = result.kind !== 'unschedulable' || result.proved
  return {
    code,
    tier,
    message: messageOf(code, cause.facts),
    provenance: isProved ? 'proved' : 'budget-exhausted',
    steps: result.kind === 'unschedulable' ? result.steps : 0,
    ...(cause.scope ? { scope: cause.scope.name } : {}),
    ...(cause.level ? { level: cause.level } : {}),
    evidence: evidenceFor(cycle, index, cause),
    ...fixesOf(),
    since: new Date(gang.waitingSince ?? (gang.createdAt || now)).toISOString(),
    ...reservationOf(cycle, index),
    ...(cause.waitsFor ? { waitsFor: cause.waitsFor } : {}),
  }

  function fixesOf(): Pick<Explanation, 'fixes' | 'fixesCutShort'> {
    if (!isAsked(gang) || !isFixable(result, tier, policy)) return { fixes: noFixes }
    const fixes = fixesFor(cycle, index, stepsOf(policy), allowance, isAsked)
    return allowance.isCutShort ? { fixes, fixesCutShort: true } : { fixes }
  }
}

function reservationOf({ model, reservations }: Cycle, index: number): Pick<Explanation, 'reservation'> {
  const own = reservations.find(reservation => reservation.index === index)
  if (!own) return {}
  const nodes = new Set(own.placement.map(({ node }) => model.snapshot.nodes[node]!.name))
  return { reservation: { nodes: [...nodes].sort(compareText), since: new Date(own.since).toISOString() } }
}

function stepsOf({ budget }: Policy): number {
  return Math.min(budget.gang, mostSteps)
}

const noFixes: readonly Fix[] = []

/** Messages of gated, missing and misconfigured gangs state what to change. */
function isFixable(result: GangResult, tier: Explanation['tier'], policy: Policy): boolean {
  return policy.fixes && result.kind === 'unschedulable' && result.proved && tier !== 'Misconfigured'
}

function evidenceFor(cycle: Cycle, index: number, { scope }: Cause): Evidence {
  const task = taskOf(cycle.model, cycle.model.snapshot.gangs[index]!, index, true)
  return evidenceOf(cycle.model, task, scope ?? (task.scope.required ? task.scope : undefined))
}

/** The first row of the table that applies. `waiting` are gangs that wait for this one: labels can name base gangs in a circle. */
function dominantCause(
  cycle: Cycle,
  index: number,
  result: GangResult,
  policy: Policy,
  now: number,
  waiting: readonly number[] = [],
): Cause {
  const obstacle = result.kind === 'obstacle' ? result.obstacle : undefined
  if (obstacle?.code === 'UnsupportedConstraint')
    return causeOfObstacle(cycle, index, obstacle, policy, now, waiting)
  const unlabelled = misconfiguration(cycle.model, index)
  if (unlabelled) return unlabelled
  if (obstacle?.code === 'PriorityClassNotFound' || obstacle?.code === 'ClaimNotFound')
    return causeOfObstacle(cycle, index, obstacle, policy, now, waiting)
  const unknown = unknownNeeds(cycle.model, index)
  if (unknown) return unknown
  if (obstacle) return causeOfObstacle(cycle, index, obstacle, policy, now, waiting)
  if (result.kind !== 'unschedulable') throw new Error('a scheduled gang has no explanation')
  if (!result.proved) return { code: 'BudgetExhausted', facts: { steps: result.steps } }
  return causeOf(cycle, index, result.before, stepsOf(policy))
}

function causeOfObstacle(
  cycle: Cycle,
  index: number,
  obstacle: Obstacle,
  policy: Policy,
  now: number,
  waiting: readonly number[],
): Cause {
  switch (obstacle.code) {
    case 'UnsupportedConstraint':
      return { code: obstacle.code, facts: { field: obstacle.field, clique: obstacle.podGroup } }
    case 'PriorityClassNotFound':
      return { code: obstacle.code, facts: { name: obstacle.name } }
    case 'ClaimNotFound':
      return {
        code: obstacle.code,
        facts: { kind: obstacle.kind, name: obstacle.name, clique: obstacle.podGroup },
      }
    case 'HeldForEarlierGang':
      return heldFor(obstacle.preemptor, cycle.model.snapshot.gangs[index]!)
    case 'PodsNotCreated':
      return {
        code: obstacle.code,
        facts: { clique: obstacle.podGroup, have: obstacle.have, need: obstacle.need },
      }
    case 'PodsGated':
      return {
        code: obstacle.code,
        facts: { n: obstacle.pods, clique: obstacle.podGroup, gate: obstacle.gate },
      }
    case 'BaseGangNotScheduled': {
      const { namespace } = cycle.model.snapshot.gangs[index]!
      const base = cycle.model.snapshot.gangs.findIndex(
        gang => gang.namespace === namespace && gang.name === obstacle.base,
      )
      return {
        code: obstacle.code,
        facts: { base: obstacle.base, reason: reasonOfBase(cycle, base, policy, now, [...waiting, index]) },
        waitsFor: { kind: 'PodGang', namespace, name: obstacle.base },
      }
    }
  }
}

function reasonOfBase(
  cycle: Cycle,
  base: number,
  policy: Policy,
  now: number,
  waiting: readonly number[],
): string {
  const result = cycle.results[base]
  if (!result) return 'it does not exist'
  if (waiting.includes(base)) return 'it waits for itself'
  if (result.kind === 'satisfied' || result.kind === 'accepted') return 'its pods are being bound'
  const { code, facts } = dominantCause(cycle, base, result, policy, now, waiting)
  return messageOf(code, facts)
}
