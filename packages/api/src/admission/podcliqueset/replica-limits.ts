// SPDX-License-Identifier: Apache-2.0

import type { LimitsConfiguration } from '../../configuration/index.ts'
import { describeExceededLimit, exceededLimits } from '../../replica-limits.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** A manifest with more of them has one cause most likely. */
const mostWarnings = 5

/**
 * Counts that the operator will not act upon, unless they were as large before. Warnings, because such sets have always
 * been accepted; the operator reports the same in `status.lastErrors`.
 */
export function replicaLimitWarnings(
  set: PodCliqueSet,
  old: PodCliqueSet | undefined,
  limits: LimitsConfiguration,
): string[] {
  const before = new Map(old ? exceededLimits(old, limits).map(({ field, value }) => [field, value]) : [])
  return exceededLimits(set, limits)
    .filter(({ field, value }) => value > (before.get(field) ?? 0))
    .slice(0, mostWarnings)
    .map(describeExceededLimit)
}
