// SPDX-License-Identifier: Apache-2.0

import type { TopologyLevel } from '@grove/api'
import type { OperatorContext } from './operator-context.ts'
import type { StoredSet } from './stored.ts'
import { topologyName } from './topology.ts'

/** The levels by which a set's gangs are placed: none where the feature is off, no topology is named or it is missing. */
export function levelsOf(
  { world, configuration }: OperatorContext,
  set: StoredSet,
): readonly TopologyLevel[] {
  if (!configuration.topologyAwareScheduling.enabled) return []
  const name = topologyName(set)
  return (name && world.topologyBindings.get({ name })?.spec.levels) || []
}
