// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError, quote } from '@grove/apimachinery'
import { scheduler } from '../../../schedulers.ts'
import type { PodCliqueSet } from '../../../types/index.ts'
import type { ClusterView } from '../../cluster-view.ts'
import { allConstraints } from '../topology-constraints.ts'
import { kaiRules } from './kai.ts'
import { kubernetesRules } from './kubernetes.ts'
import { lpxRules } from './lpx.ts'
import type { SchedulerRules } from './rules.ts'
import { volcanoRules } from './volcano.ts'

/** Backends without an entry have no rules. */
const rulesByScheduler: ReadonlyMap<string, SchedulerRules> = new Map([
  [scheduler.kai, kaiRules],
  [scheduler.kubernetes, kubernetesRules],
  [scheduler.lpx, lpxRules],
  [scheduler.volcano, volcanoRules],
])

export interface SchedulerProfiles {
  readonly enabledSchedulers: ReadonlySet<string>
  readonly defaultScheduler: string
}

/** The backend of a set: the one that its first clique names, else the default profile. */
export function backendOf(set: PodCliqueSet, profiles: SchedulerProfiles): string {
  return set.spec.template.cliques[0]?.spec.podSpec.schedulerName || profiles.defaultScheduler
}

/**
 * Applies the rules of the scheduler that will schedule the set. The error contains no value: that would be the whole
 * spec, with any secret in it.
 */
export function validateSchedulerBackend(
  set: PodCliqueSet,
  old: PodCliqueSet | undefined,
  profiles: SchedulerProfiles,
  cluster: ClusterView,
): FieldError[] {
  const name = backendOf(set, profiles)
  const problem = name
    ? problemWith(name, set, old, profiles, cluster)
    : 'default scheduler backend is not configured'
  if (problem === undefined) return []
  return [{ ...fieldError.invalid('spec', undefined, problem), valueOmitted: true }]
}

/** Warns about constraints that the scheduler accepts but does not honour: kube-scheduler schedules pods one by one. */
export function unenforcedConstraints(set: PodCliqueSet, profiles: SchedulerProfiles): string[] {
  const isConstrained = allConstraints(set).length > 0
  return isConstrained && backendOf(set, profiles) === scheduler.default
    ? [
        `topology constraints are not enforced by scheduler ${quote(scheduler.default)}: it schedules each pod on any node with room; ${scheduler.kai} and ${scheduler.grove} enforce them`,
      ]
    : []
}

function problemWith(
  name: string,
  set: PodCliqueSet,
  old: PodCliqueSet | undefined,
  profiles: SchedulerProfiles,
  cluster: ClusterView,
): string | undefined {
  const rules = rulesByScheduler.get(name)
  const sameBackend = old !== undefined && backendOf(old, profiles) === name
  if (sameBackend && (!rules || equalJson(rules.inputs(set), rules.inputs(old)))) return undefined
  if (!profiles.enabledSchedulers.has(name)) {
    return `schedulerName ${quote(name)} is not enabled in OperatorConfiguration`
  }
  return rules?.validate(set, cluster)
}
