// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { SchedulerBackend } from './backend.ts'

/** kube-scheduler schedules pod by pod. Grove controls only the order in which gates are removed. */
export const defaultScheduler: SchedulerBackend = {
  name: scheduler.default,
  topologyAware: false,
  gatesPods: true,
  preparePod: pod => pod,
  objectsFor: () => [],
}
