// SPDX-License-Identifier: Apache-2.0

import { dns1123Subdomain, quote, trimSpace } from '@grove/apimachinery'
import { annotation } from '../../../annotations.ts'
import type { PodCliqueSet } from '../../../types/index.ts'
import type { ClusterView } from '../../cluster-view.ts'
import { path } from '../paths.ts'
import type { SchedulerRules } from './rules.ts'

const key = annotation.volcanoQueue
const defaultQueue = 'default'

type Annotations = Readonly<Record<string, string>> | undefined

function queueOf(annotations: Annotations): string {
  return trimSpace(annotations?.[key] ?? '')
}

/** The queue of the pods of a set, as far as it is known. The webhook looks it up first. */
export function volcanoQueue(set: PodCliqueSet): string {
  const ofCliques = set.spec.template.cliques.map(clique => queueOf(clique.annotations))
  return queueOf(set.metadata.annotations) || ofCliques.find(queue => queue !== '') || defaultQueue
}

/** Volcano gangs support no topology constraints and belong to exactly one open queue. */
export const volcanoRules: SchedulerRules = {
  inputs: set => [
    unsupportedConstraint(set) ?? '',
    queueOf(set.metadata.annotations),
    set.spec.template.cliques.map(clique => queueOf(clique.annotations)),
  ],

  validate: (set, cluster) =>
    unsupportedConstraint(set) ??
    badQueueOfSet(set) ??
    badQueuesOfCliques(set) ??
    unusableQueue(set, cluster),
}

function unsupportedConstraint(set: PodCliqueSet): string | undefined {
  const { topologyConstraint, cliques, podCliqueScalingGroups = [] } = set.spec.template
  const text = 'volcano scheduler backend does not support topologyConstraint on'
  if (topologyConstraint) return `${text} PodCliqueSet`
  const clique = cliques.find(candidate => candidate.topologyConstraint)
  if (clique) return `${text} PodClique ${quote(clique.name)}`
  const group = podCliqueScalingGroups.find(candidate => candidate.topologyConstraint)
  return group && `${text} PodCliqueScalingGroup ${quote(group.name)}`
}

function badQueueOfSet(set: PodCliqueSet): string | undefined {
  const queue = queueOf(set.metadata.annotations)
  const problems = queue ? dns1123Subdomain(queue) : []
  return problems.length > 0 ? `metadata.annotations[${key}]: ${problems.join(', ')}` : undefined
}

function badQueuesOfCliques(set: PodCliqueSet): string | undefined {
  const ofSet = queueOf(set.metadata.annotations)
  const problems: string[] = []
  let first: string | undefined
  set.spec.template.cliques.forEach((clique, index) => {
    const at = `${path.clique(index)}.annotations[${key}]`
    const own = queueOf(clique.annotations)
    if (own) {
      const syntax = dns1123Subdomain(own)
      if (syntax.length > 0) problems.push(`${at}: ${syntax.join(', ')}`)
    }
    if (own && ofSet && own !== ofSet) {
      problems.push(
        `${at}: conflicting volcano queue annotations: PodCliqueSet has ${quote(ofSet)}, PodClique has ${quote(own)}`,
      )
    }
    const resolved = ofSet || own || defaultQueue
    first ??= resolved
    if (resolved !== first) {
      problems.push(
        `${at}: all PodCliques in a PodCliqueSet using volcano scheduler must resolve to the same queue`,
      )
    }
  })
  if (problems.length === 0) return undefined
  return problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
}

function unusableQueue(set: PodCliqueSet, cluster: ClusterView): string | undefined {
  const queue = volcanoQueue(set)
  const state = cluster.volcanoQueueState(queue)
  switch (state.outcome) {
    case 'notFound':
      return `volcano queue ${quote(queue)} does not exist`
    case 'failed':
      return `failed to get volcano queue ${quote(queue)}: ${state.error}`
    case 'found':
      return state.value === 'Open' ? undefined : `volcano queue ${quote(queue)} is not Open`
  }
}
