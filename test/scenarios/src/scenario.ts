// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Harness } from './harness.ts'

/** One scenario: actions on a set and the expected states. */
export interface Scenario {
  readonly name: string
  /** Configuration of the operator. Default: the default configuration. */
  readonly configuration?: OperatorConfiguration
  run(harness: Harness): Promise<void>
}
