// SPDX-License-Identifier: Apache-2.0

import type { TopologyLevel } from '@grove/api'
import type { OperatorContext } from './operator-context.ts'
import type { StoredSet } from './stored.ts'
import { topologyName } from './topology.ts'

/**
 * The levels by which the gangs of a set are placed: none where its topology is missing, undefined with the
 * feature off.
 */
export function levelsOf(
  { world, configuration }: OperatorContext,
  set: StoredSet,
): readonly TopologyLevel[] | undefined {
  if (!configuration.topologyAwareScheduling.enabled) return undefined
  const name = topologyName(set)
  return (name && world.topologyBindings.get({ name })?.spec.levels) || []
}
