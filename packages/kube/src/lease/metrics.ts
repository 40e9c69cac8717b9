// SPDX-License-Identifier: Apache-2.0

import { counter, gauge, type Registry } from '../metrics/index.ts'

export interface LeaseMetrics {
  leads(leads: boolean): void
  slowPath(): void
}

export function leaseMetrics(registry: Registry, name: string): LeaseMetrics {
  const status = gauge(registry, {
    name: 'leader_election_master_status',
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    labelNames: ['name'] as const,
  })
  const slowPath = counter(registry, {
    name: 'leader_election_slowpath_total',
    help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
    labelNames: ['name'] as const,
  })
  status.set({ name }, 0)
  slowPath.inc({ name }, 0)
  return { leads: leads => status.set({ name }, leads ? 1 : 0), slowPath: () => slowPath.inc({ name }) }
}
