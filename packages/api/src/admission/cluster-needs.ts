// SPDX-License-Identifier: Apache-2.0

import { defaultScheduler, enabledSchedulers, type OperatorConfiguration } from '../configuration/index.ts'
import { scheduler } from '../schedulers.ts'
import { decodePodCliqueSet } from './decode.ts'
import { backendOf } from './podcliqueset/scheduler-backends/index.ts'
import { volcanoQueue } from './podcliqueset/scheduler-backends/volcano.ts'
import { resolveTopologyNames } from './podcliqueset/topology-names.ts'

export interface ClusterNeeds {
  readonly topologyBindings: readonly string[]
  readonly volcanoQueues: readonly string[]
}

const nothing: ClusterNeeds = { topologyBindings: [], volcanoQueues: [] }

/**
 * Returns the objects that the rules for a PodCliqueSet look up, so that the webhook can fetch them first. The webhook
 * reads them from the API server, not from a cache, so that a set and its topology binding can be applied together.
 */
export function clusterNeeds(object: unknown, configuration: OperatorConfiguration): ClusterNeeds {
  const decoded = decodePodCliqueSet(object)
  if (!decoded.ok) return nothing
  const set = decoded.value
  const profiles = {
    enabledSchedulers: enabledSchedulers(configuration),
    defaultScheduler: defaultScheduler(configuration),
  }
  const topology = configuration.topologyAwareScheduling.enabled ? resolveTopologyNames(set).name : undefined
  return {
    topologyBindings: topology === undefined ? [] : [topology],
    volcanoQueues: backendOf(set, profiles) === scheduler.volcano ? [volcanoQueue(set)] : [],
  }
}
