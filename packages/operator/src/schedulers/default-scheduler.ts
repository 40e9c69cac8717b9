// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { SchedulerBackend } from './backend.ts'

/** kube-scheduler places pod by pod: only the order in which gates fall is ours. */
export const defaultScheduler: SchedulerBackend = {
  name: scheduler.default,
  topologyAware: false,
  preparePod: pod => pod,
  objectsFor: () => [],
}
