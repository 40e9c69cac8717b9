// SPDX-License-Identifier: Apache-2.0

import { type ClusterTopologyBinding, type ConditionValue, topologyLevels } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { referencedDomains, topologyConstraints, topologyName } from '../layout/topology.ts'

/** The condition that reports whether the domains of a set's constraints exist; undefined if it does not apply. */
export function topologyCondition(
  set: StoredSet,
  topologyAwareScheduling: boolean,
  bindingNamed: (name: string) => ClusterTopologyBinding | undefined,
): ConditionValue | undefined {
  const domains = referencedDomains(set)
  if (!topologyAwareScheduling) return domains.length ? topologyLevels.schedulingDisabled : undefined
  if (topologyConstraints(set).length === 0) return topologyLevels.noConstraints
  const name = topologyName(set)
  if (!name) return topologyLevels.nameMissing
  const binding = bindingNamed(name)
  if (!binding) return topologyLevels.bindingNotFound
  const known = new Set(binding.spec.levels.map(level => level.domain))
  const missing = domains.filter(domain => !known.has(domain))
  return missing.length ? topologyLevels.unavailable(missing) : topologyLevels.available
}
