// SPDX-License-Identifier: Apache-2.0

export { dashboardClusterRole } from './access/cluster-role.ts'
export type * from './documents/types.ts'
export { type DashboardStartOptions, type RunningDashboard, startDashboard } from './start-dashboard.ts'
