// SPDX-License-Identifier: Apache-2.0

import type { OperatorContext } from './operator-context.ts'
import type { StoredSet } from './stored.ts'

/** The scheduler that places all pods of a set, and whose name its gangs carry. */
export function schedulerOf({ backends, world }: OperatorContext, set: StoredSet): string {
  return backends.nameFor(set, () => world.gangs.byIndex('controller', set.metadata.uid))
}
