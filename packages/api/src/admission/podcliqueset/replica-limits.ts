// SPDX-License-Identifier: Apache-2.0

import type { LimitsConfiguration } from '../../configuration/index.ts'
import { describeExceededLimit, exceededLimits } from '../../replica-limits.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** More than these most likely have the same cause. */
const mostWarnings = 5

/**
 * Warns about counts that the operator will not apply, unless the stored set has them too. Such sets are accepted for
 * compatibility, and the operator reports the same in `status.lastErrors`.
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
