// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import { combinedNameLimit } from '../../names.ts'
import type { PodCliqueSet } from '../../types/index.ts'

// The names a user chooses become one pod name together with indexes and a random suffix. Kubernetes would cut what
// is too long without a word, so the sum of the chosen parts is limited.

function exceeds(length: number, advice: string): string | undefined {
  if (length <= combinedNameLimit) return undefined
  return `combined resource name length ${length} exceeds ${combinedNameLimit}-character limit required for pod naming. Consider shortening: ${advice}`
}

/** Reported at both names: either may be shortened. */
export function nameBudgetOfStandaloneClique(set: PodCliqueSet, clique: string, field: string): FieldError[] {
  const { name } = set.metadata
  const problem = exceeds(
    byteLength(name) + byteLength(clique),
    `PodCliqueSet '${name}' or PodClique '${clique}'`,
  )
  if (!problem) return []
  return [fieldError.invalid(field, clique, problem), fieldError.invalid('metadata.name', name, problem)]
}

/** Reported at all three names. At the group the name of the clique is shown: tools know it so. */
export function nameBudgetOfMember(
  set: PodCliqueSet,
  group: string,
  clique: string,
  groupField: string,
  memberIndex: number,
): FieldError[] {
  const { name } = set.metadata
  const problem = exceeds(
    byteLength(name) + byteLength(group) + byteLength(clique),
    `PodCliqueSet '${name}', PodCliqueScalingGroup '${group}', or PodClique '${clique}'`,
  )
  if (!problem) return []
  return [
    fieldError.invalid(`${groupField}.cliqueNames[${memberIndex}].name`, clique, problem),
    fieldError.invalid(`${groupField}.name`, clique, problem),
    fieldError.invalid('metadata.name', name, problem),
  ]
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
