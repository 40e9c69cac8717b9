// SPDX-License-Identifier: Apache-2.0

import { type ClusterTopologyBinding, scheduler } from '@grove/api'
import type { SchedulerObject } from '../backends/backend.ts'
import { controlledBy } from './owner.ts'

/** KAI's own picture of the topology; made by us unless the binding says that somebody else keeps it. */
export function kaiTopology(binding: ClusterTopologyBinding): SchedulerObject | undefined {
  const kept = (binding.spec.schedulerTopologyBindings ?? []).some(
    entry => entry.schedulerName === scheduler.kai,
  )
  if (kept) return undefined
  return {
    apiVersion: 'kai.scheduler/v1alpha1',
    kind: 'Topology',
    metadata: { name: binding.metadata.name, ownerReferences: controlledBy(binding) },
    spec: { levels: binding.spec.levels.map(level => ({ nodeLabel: level.key })) },
  }
}
