// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Harness } from './harness.ts'

/** One scenario: what is done to a set, and what must be seen. */
export interface Scenario {
  readonly name: string
  /** Of the operator; the defaults unless told. */
  readonly configuration?: OperatorConfiguration
  run(harness: Harness): Promise<void>
}
