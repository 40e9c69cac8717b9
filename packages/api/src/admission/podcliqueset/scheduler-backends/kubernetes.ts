// SPDX-License-Identifier: Apache-2.0

import { quote } from '@grove/apimachinery'
import { scheduler } from '../../../schedulers.ts'
import type { PodCliqueSet } from '../../../types/index.ts'
import { allConstraints, preferredDomain } from '../topology-constraints.ts'
import type { SchedulerRules } from './rules.ts'

/** A Workload holds at most so many templates in each of its lists. */
const mostTemplates = 8

const name = quote(scheduler.kubernetes)

/** Rejects sets that the Workload API of Kubernetes 1.37 cannot express. */
export const kubernetesRules: SchedulerRules = {
  inputs: set => [preferredLevels(set), templateCounts(set), groupedPods(set)],

  validate: set => {
    const [preferred] = preferredLevels(set)
    if (preferred !== undefined)
      return `scheduler ${name} supports required topology levels only; remove the preferred level ${quote(preferred)} or use another scheduler`
    const [tooMany] = templateCounts(set).filter(({ count }) => count > mostTemplates)
    if (tooMany)
      return `scheduler ${name} supports at most ${mostTemplates} ${tooMany.what}, not ${tooMany.count}; use fewer or another scheduler`
    const [grouped] = groupedPods(set)
    return grouped === undefined
      ? undefined
      : `with scheduler ${name} the operator sets podSpec.schedulingGroup; remove it from clique ${quote(grouped)}`
  },
}

function preferredLevels(set: PodCliqueSet): string[] {
  return allConstraints(set).flatMap(({ constraint }) => preferredDomain(constraint) || [])
}

function templateCounts({ spec: { template } }: PodCliqueSet): { what: string; count: number }[] {
  const groups = template.podCliqueScalingGroups ?? []
  const isConstrained = ({ topologyConstraint }: (typeof groups)[number]) => topologyConstraint !== undefined
  const inConstrained = new Set(groups.filter(isConstrained).flatMap(({ cliqueNames }) => cliqueNames))
  return [
    {
      what: 'cliques outside of scaling groups with a topology constraint',
      count: template.cliques.filter(clique => !inConstrained.has(clique.name)).length,
    },
    { what: 'scaling groups with a topology constraint', count: groups.filter(isConstrained).length },
    ...groups.map(group => ({
      what: `cliques in scaling group ${quote(group.name)}`,
      count: group.cliqueNames.length,
    })),
  ]
}

function groupedPods(set: PodCliqueSet): string[] {
  return set.spec.template.cliques
    .filter(clique => clique.spec.podSpec.schedulingGroup !== undefined)
    .map(clique => clique.name)
}
