// SPDX-License-Identifier: Apache-2.0

// The revision that a set wants, computed once per generation of its spec.
import {
  generationHash,
  hashAlgorithmOf,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type PodClique,
  podTemplateHash,
} from '@grove/api'
import type { Revision } from './revision.ts'
import type { StoredSet } from './stored.ts'

export interface SetRevision extends Revision {
  readonly generationHash: string
  /** By clique name. */
  readonly templateHashes: Readonly<Record<string, string>>
  /** Whether a stored generation hash names the wanted revision. */
  isCurrentGeneration(stored: string): boolean
}

const known = new WeakMap<object, SetRevision>()

export function revisionOf(set: StoredSet): SetRevision {
  const template = set.spec.template
  let revision = known.get(template)
  if (!revision) {
    revision = compute(set)
    known.set(template, revision)
  }
  return revision
}

function compute(set: StoredSet): SetRevision {
  const { template } = set.spec
  const templateHashes = Object.fromEntries(
    template.cliques.map(clique => [clique.name, podTemplateHash(template, clique)]),
  )
  const wanted = generationHash(set.spec)
  // Hashes of earlier operators are costly to make and rarely met: only when one of them stands in an object.
  const legacy = once(() => ({
    generation: legacyGenerationHash(set.spec),
    templates: new Map(
      template.cliques.map(clique => [templateHashes[clique.name]!, legacyPodTemplateHash(template, clique)]),
    ),
  }))
  return {
    generationHash: wanted,
    templateHashes,
    hashOf: clique => templateHashes[cliqueNameOf(clique, Object.keys(templateHashes)) ?? ''] ?? '',
    isCurrent: (stored, current) =>
      stored === current ||
      (hashAlgorithmOf(stored) === 'legacy' && legacy().templates.get(current) === stored),
    isCurrentGeneration: stored =>
      stored === wanted || (hashAlgorithmOf(stored) === 'legacy' && legacy().generation === stored),
  }
}

/** Which template a clique was made from: its name is its parent's, its index and exactly the template's name. */
function cliqueNameOf(clique: PodClique, templates: readonly string[]): string | undefined {
  const labels = clique.metadata.labels ?? {}
  const parent = labels[label.scalingGroup] ?? labels[label.partOf]
  const index = labels[label.scalingGroup]
    ? labels[label.scalingGroupReplicaIndex]
    : labels[label.setReplicaIndex]
  return templates.find(template => clique.metadata.name === `${parent}-${index}-${template}`)
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
