// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'

/** Whether two statuses say the same: a count of zero that is left out is zero. */
export function sameStatus(a: unknown, b: unknown): boolean {
  return semanticallyEqual(a, b, (left, right) =>
    (left ?? 0) === 0 && (right ?? 0) === 0 ? true : undefined,
  )
}
