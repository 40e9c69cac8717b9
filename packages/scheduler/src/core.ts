// SPDX-License-Identifier: Apache-2.0

// The pure core alone, for programs that must not load a Kubernetes client.
export { plan } from './plan.ts'
export { countScheduled, type GangCount } from './planner/count-scheduled.ts'
export { defaultPolicy } from './policy.ts'
export { defaultSchedulerName, snapshotFrom } from './snapshot/index.ts'
export type * from './types.ts'
