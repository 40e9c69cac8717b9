// SPDX-License-Identifier: Apache-2.0

export { schedulerAccountName, schedulerClusterRole, schedulerRole } from './access/cluster-role.ts'
export { SchedulerCaches } from './binder/caches.ts'
export { GangScheduler, type GangSchedulerOptions } from './binder/gang-scheduler.ts'
export type { GangEvents } from './binder/gang-writes.ts'
export { recordedGangEvents } from './binder/recorded-events.ts'
export { resources as schedulerResources } from './binder/resources.ts'
export {
  defaultBindTimeoutMs,
  type RunningScheduler,
  type SchedulerStartOptions,
  startScheduler,
} from './binder/start-scheduler.ts'
export {
  type Capacity,
  type CapacityInput,
  capacity,
  type Fragmentation,
  type LevelSlots,
} from './capacity/index.ts'
export { withOwnClaims } from './capacity/own-claims.ts'
export { catalogue } from './explain/catalogue.ts'
export { applyFix } from './explain/variants.ts'
export { plan } from './plan.ts'
export { defaultPolicy } from './policy.ts'
export { dryRunMetrics, schedulerMetrics } from './process/metrics-catalogue.ts'
export type { ShadowReport } from './shadow/shadow-reports.ts'
export { ShadowScheduler, type ShadowSchedulerOptions } from './shadow/shadow-scheduler.ts'
export { defaultSchedulerName, snapshotFrom } from './snapshot/index.ts'
export { holdsResources, podRequests, readAmounts } from './snapshot/requests.ts'
export type * from './types.ts'
