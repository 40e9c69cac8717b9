// SPDX-License-Identifier: Apache-2.0

// The revision that a set wants.
import {
  formerGenerationAlgorithm,
  formerGenerationHash,
  generationHash,
  hashAlgorithmOf,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type PodClique,
  podTemplateHash,
} from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import {
  hasWantedTemplate,
  isForeignGeneration,
  isForeignTemplate,
  isWantedGeneration,
  type LiveChildren,
} from './foreign-hashes.ts'
import { type Revision, templateHashOfClique } from './revision.ts'

export interface SetRevision extends Revision {
  readonly generationHash: string
  /** By clique name. */
  readonly templateHashes: Readonly<Record<string, string>>
  /**
   * Reports whether a stored generation hash stands for the wanted revision. For hashes of another algorithm the
   * children decide.
   */
  isCurrentGeneration(stored: string, children: LiveChildren): boolean
  /** Progress towards the wanted revision under its current hash, so that the update continues and does not restart. */
  renamed<P extends TargetOfUpdate | undefined>(progress: P, clique?: PodClique): P
}

/** The target of a child's update. */
export interface TargetOfUpdate {
  podCliqueSetGenerationHash: string
  podTemplateHash?: string
}

const known = new WeakMap<object, SetRevision>()

/**
 * The revision that the spec of a set describes. Computed once for each template object, and once per UID and
 * generation for sets in a watch cache: see `keepRevision`.
 */
export function revisionOf(set: StoredSet): SetRevision {
  const template = set.spec.template
  let revision = known.get(template)
  if (!revision) {
    revision = compute(set)
    known.set(template, revision)
  }
  return revision
}

/**
 * Carries the revision over to a new version of the same set. A status write replaces the object in the cache, and the
 * template in it, but not the generation. Call this for every change of a set in the cache. No entry has to be removed.
 */
export function keepRevision(before: StoredSet, after: StoredSet): void {
  const isSame =
    before.metadata.uid === after.metadata.uid &&
    after.metadata.generation !== undefined &&
    before.metadata.generation === after.metadata.generation
  const revision = isSame ? known.get(before.spec.template) : undefined
  if (revision) known.set(after.spec.template, revision)
}

function compute(set: StoredSet): SetRevision {
  const { template } = set.spec
  const templateHashes = Object.fromEntries(
    template.cliques.map(clique => [clique.name, podTemplateHash(template, clique)]),
  )
  const wanted = generationHash(set.spec)
  // Hashes of earlier operators are costly to compute and rarely found, so they are computed only when an object
  // contains one.
  const legacy = once(() => ({
    generation: legacyGenerationHash(set.spec),
    templates: new Map(
      template.cliques.map(clique => [templateHashes[clique.name]!, legacyPodTemplateHash(template, clique)]),
    ),
  }))
  const hashOf = (clique: PodClique) =>
    templateHashes[cliqueNameOf(clique, Object.keys(templateHashes)) ?? ''] ?? ''
  const adopted = new WeakMap<PodClique, boolean>()
  const isAdopted = (clique: PodClique): boolean => {
    let result = adopted.get(clique)
    if (result === undefined) {
      result = hasWantedTemplate(set, clique)
      adopted.set(clique, result)
    }
    return result
  }
  const former = once(() => formerGenerationHash(set.spec))
  const isFormerName = (stored: string) =>
    hashAlgorithmOf(stored) === formerGenerationAlgorithm && former() === stored
  const isLegacyGeneration = (stored: string) => isForeignGeneration(stored) && legacy().generation === stored
  const isCurrent = (clique: PodClique, stored: string): boolean => {
    const current = hashOf(clique)
    if (stored === current) return true
    if (!isForeignTemplate(stored)) return false
    if (legacy().templates.get(current) === stored) return true
    return stored === templateHashOfClique(clique) && isAdopted(clique)
  }
  return {
    generationHash: wanted,
    templateHashes,
    hashOf,
    isCurrent,
    isFormerName,
    isCurrentGeneration: (stored, children) =>
      stored === wanted ||
      isFormerName(stored) ||
      isLegacyGeneration(stored) ||
      (isForeignGeneration(stored) && isWantedGeneration(set, stored, children)),
    renamed: (progress, clique) => {
      if (!progress) return progress
      const { podCliqueSetGenerationHash: target, podTemplateHash: template } = progress
      if (!isFormerName(target) && !isLegacyGeneration(target)) return progress
      return {
        ...progress,
        podCliqueSetGenerationHash: wanted,
        ...(clique && template && isCurrent(clique, template) && { podTemplateHash: hashOf(clique) }),
      }
    },
  }
}

/**
 * Finds the template of a clique: its name is the name of its parent, its index and exactly the name of the template.
 */
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
