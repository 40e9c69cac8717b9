// SPDX-License-Identifier: Apache-2.0

import { type ClusterTopologyBinding, scheduler } from '@grove/api'
import { controlledBy } from '../layout/owner.ts'
import { topologyReference } from '../layout/topology.ts'
import type { SchedulerObject } from '../schedulers/backend.ts'

/** The topology object of KAI. The operator creates it unless the binding names one that another owner manages. */
export function kaiTopology(binding: ClusterTopologyBinding): KaiTopology | undefined {
  if (topologyReference(binding, scheduler.kai) !== undefined) return undefined
  return {
    apiVersion: 'kai.scheduler/v1alpha1',
    kind: 'Topology',
    metadata: { name: binding.metadata.name, ownerReferences: controlledBy(binding) },
    spec: { levels: binding.spec.levels.map(level => ({ nodeLabel: level.key })) },
  }
}

export interface KaiTopology extends SchedulerObject {
  readonly spec?: { readonly levels?: readonly { readonly nodeLabel: string }[] }
}
