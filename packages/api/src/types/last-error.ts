// SPDX-License-Identifier: Apache-2.0

import type { Time } from '../kubernetes/index.ts'

/** An error that the operator met while it worked on the object. */
export interface LastError {
  /** For programs; one of the catalogue in error-codes.ts. */
  code: string
  description: string
  observedAt: Time
}
