// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'

/** Reports whether two statuses are equal. An omitted count equals zero. */
export function sameStatus(a: unknown, b: unknown): boolean {
  return semanticallyEqual(a, b, (left, right) =>
    (left ?? 0) === 0 && (right ?? 0) === 0 ? true : undefined,
  )
}
