// SPDX-License-Identifier: Apache-2.0

import type { Time } from '../kubernetes/index.ts'

/** An error of the operator during a reconcile of the object. */
export interface LastError {
  /** For programs. One of the codes in error-codes.ts. */
  code: string
  description: string
  observedAt: Time
}
