// SPDX-License-Identifier: Apache-2.0

// The condition UpdateProgressing of cliques and scaling groups.
import { type ConditionValue, updateProgressing } from '@grove/api'
import type { Unit, UnitUpdatePlan, UnitUpdateWait } from './units.ts'

/** The terms of one kind of unit in messages for users. */
export interface UnitTerms {
  readonly plural: string
  readonly serving: string
  discarded(units: readonly Unit[]): string
  replaced(id: Unit['id']): string
  starting(units: readonly Unit[]): string
  notBack(index: number): string
}

export const podTerms: UnitTerms = {
  plural: 'pods',
  serving: 'ready',
  discarded: units => `${units.length} outdated pods that are not ready are replaced`,
  replaced: name => `pod ${name} is replaced`,
  starting: ({ length }) => (length === 1 ? 'a pod that is not ready' : `${length} pods that are not ready`),
  notBack: index => `the new pod with index ${index} is not ready yet`,
}

export const replicaTerms: UnitTerms = {
  plural: 'replicas',
  serving: 'available',
  discarded: units => `replicas ${idsOf(units)} are replaced`,
  replaced: index => `replica ${index} is replaced`,
  starting: units => `replicas ${idsOf(units)} are not available`,
  notBack: index => `replica ${index} is not available again`,
}

/** Undefined when nothing is left to update. */
export function unitUpdateCondition<U extends Unit>(
  plan: UnitUpdatePlan<U>,
  replicas: number,
  terms: UnitTerms,
): ConditionValue | undefined {
  switch (plan.kind) {
    case 'finished':
      return undefined
    case 'discard':
      return updateProgressing.replacing(terms.discarded(plan.units))
    case 'replace':
      return updateProgressing.replacing(terms.replaced(plan.unit.id))
    case 'wait':
      return plan.reason === 'paused'
        ? updateProgressing.paused('the update is paused')
        : updateProgressing.waiting(`waits: ${cause(plan, replicas, terms)}`)
  }
}

function cause<U extends Unit>(
  plan: Exclude<UnitUpdateWait<U>, { reason: 'paused' }>,
  replicas: number,
  terms: UnitTerms,
): string {
  switch (plan.reason) {
    case 'unstable':
      return `${terms.starting(plan.units)}, until the template is stable`
    case 'not-back':
      return terms.notBack(plan.index)
    case 'budget':
      return `only ${plan.serving} of ${replicas} ${terms.plural} are ${terms.serving}, and ${plan.needed} must stay so`
  }
}

function idsOf(units: readonly Unit[]): string {
  return units.map(({ id }) => id).join(', ')
}
