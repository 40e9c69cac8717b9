// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import { combinedNameLimit } from '../../names.ts'
import { quotable } from './quotable.ts'

// The user's names, indexes and a random suffix form the pod name. Kubernetes silently truncates long generated names,
// so the total length of the user's parts is limited.

/** A name with its length. The lengths of set and group names are computed once, not for each clique. */
export interface MeasuredName {
  readonly name: string
  readonly bytes: number
}

export function measured(name: string): MeasuredName {
  return { name, bytes: Buffer.byteLength(name, 'utf8') }
}

function exceeds(length: number, advice: string): string {
  return `combined resource name length ${length} exceeds ${combinedNameLimit}-character limit required for pod naming. Consider shortening: ${advice}`
}

/** Reported at both names, because the user may shorten either. */
export function nameBudgetOfStandaloneClique(set: MeasuredName, clique: string, field: string): FieldError[] {
  const length = set.bytes + measured(clique).bytes
  if (length <= combinedNameLimit) return []
  const problem = exceeds(length, `PodCliqueSet '${quotable(set.name)}' or PodClique '${clique}'`)
  return [fieldError.invalid(field, clique, problem), fieldError.invalid('metadata.name', set.name, problem)]
}

/**
 * Reported at all three names. The error at the group contains the name of the clique, because tools match this text.
 */
export function nameBudgetOfMember(
  set: MeasuredName,
  group: MeasuredName,
  clique: string,
  groupField: string,
  memberIndex: number,
): FieldError[] {
  const length = set.bytes + group.bytes + measured(clique).bytes
  if (length <= combinedNameLimit) return []
  const problem = exceeds(
    length,
    `PodCliqueSet '${quotable(set.name)}', PodCliqueScalingGroup '${quotable(group.name)}', or PodClique '${clique}'`,
  )
  return [
    fieldError.invalid(`${groupField}.cliqueNames[${memberIndex}].name`, clique, problem),
    fieldError.invalid(`${groupField}.name`, clique, problem),
    fieldError.invalid('metadata.name', set.name, problem),
  ]
}
