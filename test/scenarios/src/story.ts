// SPDX-License-Identifier: Apache-2.0

import type { Stage } from './stage.ts'

/** One story: what is done to a set, and what must be seen. */
export interface Story {
  readonly name: string
  tell(stage: Stage): Promise<void>
}
