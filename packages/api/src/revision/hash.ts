// SPDX-License-Identifier: Apache-2.0

// Names of revisions. A hash starts with the version of the algorithm that made it, so a stored value can be told from
// one of another release or of the older operator. Each version is SHA-256 over the canonical JSON of canonical.ts; any
// change that gives an existing template another hash needs a new version (the golden values in the tests see to it).
// Generations are at z2, which added the start-up type. Pod templates stay at z1: their content did not change, and
// another version would rewrite a label of every pod.
import { hash } from 'node:crypto'
import {
  type CanonicalPodTemplate,
  type CanonicalSetTemplate,
  canonicalPodTemplate,
  canonicalSetTemplate,
} from './canonical.ts'
import { canonicalJson } from './canonical-json.ts'
import type { CliqueTemplateInput, SetSpecInput, SetTemplateInput } from './input.ts'

export type HashAlgorithm = 'z1' | 'z2' | 'legacy' | 'unknown'

/** The algorithm of `podTemplateHash`. */
export const podTemplateAlgorithm = 'z1'
/** The algorithm of `generationHash`. */
export const generationAlgorithm = 'z2'
/** The algorithm of `formerGenerationHash`. */
export const formerGenerationAlgorithm = 'z1'
/** 96 bits: no two templates of a cluster will ever share them by chance. */
const hexDigits = 24

/** The hash of one clique's pod template; `template` is `spec.template` of its set. */
export function podTemplateHash(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return hashOf(podTemplateAlgorithm, canonicalPodTemplate(template, clique))
}

/** The hash of all clique templates of a PodCliqueSet together, and of how they start. */
export function generationHash(spec: SetSpecInput): string {
  return hashOf(generationAlgorithm, canonicalSetTemplate(spec))
}

/** The hash that releases before z2 stored for the same spec. The start-up type was no part of it. */
export function formerGenerationHash(spec: SetSpecInput): string {
  const { cliques } = canonicalSetTemplate(spec)
  return hashOf(formerGenerationAlgorithm, { cliques })
}

function hashOf(
  algorithm: HashAlgorithm,
  canonical: CanonicalPodTemplate | Pick<CanonicalSetTemplate, 'cliques'>,
): string {
  return `${algorithm}-${hash('sha256', canonicalJson(canonical), 'hex').slice(0, hexDigits)}`
}

/** Which algorithm made a stored hash; `unknown` for what only a later release can have written, or nobody. */
export function hashAlgorithmOf(value: string): HashAlgorithm {
  const [, own] = /^(z1|z2)-[0-9a-f]{24}$/.exec(value) ?? []
  if (own) return own as 'z1' | 'z2'
  return /^[4-9bcdf]{1,20}$/.test(value) ? 'legacy' : 'unknown'
}
