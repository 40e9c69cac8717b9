// SPDX-License-Identifier: Apache-2.0

// Names of revisions. A hash starts with the version of the algorithm that made it, so a stored value can be told from
// one of another release or of the older operator. Version z1 is SHA-256 over the canonical JSON of canonical.ts; any
// change that gives an existing template another hash needs a new version (the golden values in the tests see to it).
import { hash } from 'node:crypto'
import {
  type CanonicalPodTemplate,
  type CanonicalSetTemplate,
  canonicalPodTemplate,
  canonicalSetTemplate,
} from './canonical.ts'
import { canonicalJson } from './canonical-json.ts'
import type { CliqueTemplateInput, SetSpecInput, SetTemplateInput } from './input.ts'

export type HashAlgorithm = 'z1' | 'legacy' | 'unknown'

/** The algorithm of this release. */
export const hashAlgorithm: HashAlgorithm = 'z1'
const prefix = `${hashAlgorithm}-`
/** 96 bits: no two templates of a cluster will ever share them by chance. */
const hexDigits = 24

/** The hash of one clique's pod template; `template` is `spec.template` of its set. */
export function podTemplateHash(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return hashCanonical(canonicalPodTemplate(template, clique))
}

/** The hash of all clique templates of a PodCliqueSet together. */
export function generationHash(spec: SetSpecInput): string {
  return hashCanonical(canonicalSetTemplate(spec))
}

/** The hash of a canonical form that is at hand already. */
export function hashCanonical(canonical: CanonicalPodTemplate | CanonicalSetTemplate): string {
  return prefix + hash('sha256', canonicalJson(canonical), 'hex').slice(0, hexDigits)
}

/** Which algorithm made a stored hash; `unknown` for what only a later release can have written, or nobody. */
export function hashAlgorithmOf(value: string): HashAlgorithm {
  if (/^z1-[0-9a-f]{24}$/.test(value)) return 'z1'
  return /^[4-9bcdf]{1,20}$/.test(value) ? 'legacy' : 'unknown'
}
