// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { SchedulerBackend } from './backend.ts'

/** The scheduler reads PodGangs itself and needs no other objects. */
export const lpxScheduler: SchedulerBackend = {
  name: scheduler.lpx,
  topologyAware: false,
  gatesPods: true,
  preparePod: pod => pod,
  objectsFor: () => [],
}
