// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { SchedulerBackend } from './backend.ts'

/** The gang scheduler of this project. It reads PodGangs and ClusterTopologyBindings, and needs no objects of its own. */
export const groveScheduler: SchedulerBackend = {
  name: scheduler.grove,
  topologyAware: true,
  preparePod: pod => pod,
  objectsFor: () => [],
}
