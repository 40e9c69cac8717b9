// SPDX-License-Identifier: Apache-2.0

// Objects that another operator, or another version of this one, wrote: their hashes say nothing to us, so what they
// were made from is compared with what would be made of the set today. What is equal is taken over as it stands.
import {
  type CanonicalPodTemplate,
  canonicalPodTemplate,
  hashAlgorithm,
  hashAlgorithmOf,
  label,
  managedLabels,
  type PodClique,
  type PodGang,
  type PodSpec,
  sameCanonical,
  scalingGroupEnvironment,
} from '@grove/api'
import { cliqueInstanceOf } from './clique-instance.ts'
import { basePodGang, replicaIndexes } from './layout.ts'
import { cliqueLabels, podClique } from './objects/clique.ts'
import type { StoredSet } from './stored.ts'

/** Whether a stored hash cannot be compared with ours because another algorithm made it. */
export function isForeignHash(hash: string): boolean {
  return hashAlgorithmOf(hash) !== hashAlgorithm
}

/** Whether a live clique has the template that the set would give it today. */
export function hasWantedTemplate(set: StoredSet, clique: PodClique): boolean {
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return false
  const wanted = podClique(set, instance, set, '')
  const ours = new Set(Object.keys({ ...managedLabels(''), ...cliqueLabels(set, instance, '') }))
  return sameCanonical(templateOf(clique, ours), templateOf(wanted, ours))
}

export interface LiveChildren {
  /** Every clique of the set that is not on its way out, members of scaling groups included. */
  readonly cliques: readonly PodClique[]
  gangNamed(name: string): PodGang | undefined
}

/**
 * Whether a generation hash of unknown making stands for what the set wants now: everything that claims to have reached
 * it has the wanted template. Where nothing has, an update to it had just begun, and the standalone cliques, which follow
 * the set at once, tell where it was going.
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

/** The priority class of the gangs is part of a generation, and no clique carries it. */
function hasWantedPriority(set: StoredSet, { gangNamed }: LiveChildren): boolean {
  const wanted = set.spec.template.priorityClassName ?? ''
  return replicaIndexes(set)
    .map(replica => gangNamed(basePodGang(set, replica).name))
    .every(gang => !gang || (gang.spec.priorityClassName ?? '') === wanted)
}

/** Labels of ours aside, which other versions may give otherwise. */
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

/** One of the variables counts pods: it follows replica counts, which are no part of a template. */
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
