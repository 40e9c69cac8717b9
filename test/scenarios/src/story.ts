// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Stage } from './stage.ts'

/** One story: what is done to a set, and what must be seen. */
export interface Story {
  readonly name: string
  /** Of the operator; the defaults unless told. */
  readonly configuration?: OperatorConfiguration
  tell(stage: Stage): Promise<void>
}
