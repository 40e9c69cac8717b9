// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { SchedulerBackend } from './backend.ts'

/**
 * The gang scheduler of this project. It reads PodGangs and ClusterTopologyBindings, and needs no objects of its own.
 * It binds no pod before condition Initialized of the PodGang is True, so its pods need no gate.
 */
export const groveScheduler: SchedulerBackend = {
  name: scheduler.grove,
  topologyAware: true,
  gatesPods: false,
  preparePod: pod => pod,
  objectsFor: () => [],
  writesGangStatus: true,
}
