// SPDX-License-Identifier: Apache-2.0

// Objects that another operator, or another version of this one, wrote. Their hashes cannot be compared with those of
// this operator. Instead their templates are compared with the present ones of the set, and equal ones are taken over
// unchanged.
import {
  type CanonicalPodTemplate,
  canonicalPodTemplate,
  formerGenerationAlgorithm,
  generationAlgorithm,
  hashAlgorithmOf,
  label,
  managedLabels,
  names,
  type PodClique,
  type PodGang,
  type PodSpec,
  podTemplateAlgorithm,
  sameCanonical,
  scalingGroupEnvironment,
} from '@grove/api'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import { eachReplica } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { cliqueLabels, podClique } from '../objects/clique.ts'

/** Reports whether another algorithm computed a stored template hash, so that the hashes cannot be compared. */
export function isForeignTemplate(hash: string): boolean {
  return hashAlgorithmOf(hash) !== podTemplateAlgorithm
}

/** Like `isForeignTemplate`, for generation hashes, of which this operator also knows its former algorithm. */
export function isForeignGeneration(hash: string): boolean {
  const algorithm = hashAlgorithmOf(hash)
  return algorithm !== generationAlgorithm && algorithm !== formerGenerationAlgorithm
}

/** Reports whether a live clique has the template that the set would give it today. */
export function hasWantedTemplate(set: StoredSet, clique: PodClique): boolean {
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return false
  const wanted = podClique(set, instance, set, '')
  const ours = new Set(Object.keys({ ...managedLabels(''), ...cliqueLabels(set, instance, '') }))
  return sameCanonical(templateOf(clique, ours), templateOf(wanted, ours))
}

export interface LiveChildren {
  /** Every clique of the set that is not terminating, including members of scaling groups. */
  readonly cliques: readonly PodClique[]
  gangNamed(name: string): PodGang | undefined
}

/**
 * Reports whether a generation hash of an unknown algorithm stands for the wanted generation: every clique that reports
 * it has the wanted template. If no clique reports it, an update to it had just started. Then the standalone cliques
 * decide, because they follow the set at once.
 */
export function isWantedGeneration(set: StoredSet, stored: string, children: LiveChildren): boolean {
  const { cliques } = children
  if (cliques.length === 0) return true
  const reached = cliques.filter(clique => clique.status?.currentPodCliqueSetGenerationHash === stored)
  const standalone = cliques.filter(clique => !clique.metadata.labels?.[label.scalingGroup])
  const witnesses = reached.length ? reached : standalone
  return (
    witnesses.length > 0 &&
    witnesses.every(clique => hasWantedTemplate(set, clique)) &&
    hasWantedPriority(set, children)
  )
}

/** The priority class of the gangs is part of a generation, but no clique contains it. */
function hasWantedPriority(set: StoredSet, { gangNamed }: LiveChildren): boolean {
  const wanted = set.spec.template.priorityClassName ?? ''
  return Iterator.from(eachReplica(set))
    .map(replica => gangNamed(names.basePodGang(set.metadata.name, replica)))
    .every(gang => !gang || (gang.spec.priorityClassName ?? '') === wanted)
}

/** Ignores Grove labels, because other versions may set different ones. */
function templateOf({ metadata, spec }: PodClique, ours: ReadonlySet<string>): CanonicalPodTemplate {
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !ours.has(key))
  return canonicalPodTemplate(
    {},
    {
      labels: Object.fromEntries(labels),
      annotations: metadata.annotations,
      spec: { podSpec: withoutGroupEnvironment(spec.podSpec) },
    },
  )
}

const injected: ReadonlySet<string> = new Set(Object.values(scalingGroupEnvironment))

/** One of the variables contains a pod count. It follows replica counts, which are not part of a template. */
function withoutGroupEnvironment(podSpec: PodSpec): PodSpec {
  const without = <C extends { env?: { name: string }[] }>(container: C): C => ({
    ...container,
    ...(container.env && { env: container.env.filter(({ name }) => !injected.has(name)) }),
  })
  return {
    ...podSpec,
    containers: podSpec.containers.map(without),
    ...(podSpec.initContainers && { initContainers: podSpec.initContainers.map(without) }),
  }
}
