// SPDX-License-Identifier: Apache-2.0

// Hashes that identify revisions. A hash starts with the version of its algorithm, so that hashes of other releases and
// of the Go-based operator can be recognised. Each version is SHA-256 over the canonical JSON of canonical.ts. A change
// that alters the hash of an existing template needs a new version. The golden values in the tests detect it.
// Generations use z2, which added the startup type. Pod templates stay at z1: a new version would rewrite a label of
// every pod.
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
/** 96 bits, so that two templates of a cluster never collide by chance. */
const hexDigits = 24

/** The hash of the pod template of one clique. `template` is `spec.template` of its set. */
export function podTemplateHash(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return hashOf(podTemplateAlgorithm, canonicalPodTemplate(template, clique))
}

/** The hash of all clique templates of a PodCliqueSet and of its startup type. */
export function generationHash(spec: SetSpecInput): string {
  return hashOf(generationAlgorithm, canonicalSetTemplate(spec))
}

/** The hash that releases before z2 stored for the same spec. It did not include the startup type. */
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

/** Identifies the algorithm of a stored hash. `unknown` if only a later release can have written it. */
export function hashAlgorithmOf(value: string): HashAlgorithm {
  const [, own] = /^(z1|z2)-[0-9a-f]{24}$/.exec(value) ?? []
  if (own) return own as 'z1' | 'z2'
  return /^[4-9bcdf]{1,20}$/.test(value) ? 'legacy' : 'unknown'
}
