// SPDX-License-Identifier: Apache-2.0

import { counter, gauge, leaseCatalogue, type Registry } from '../metrics/index.ts'

export interface LeaseMetrics {
  leads(leads: boolean): void
  slowPath(): void
}

export function leaseMetrics(registry: Registry, name: string): LeaseMetrics {
  const status = gauge(registry, leaseCatalogue.leads)
  const slowPath = counter(registry, leaseCatalogue.slowPath)
  status.set({ name }, 0)
  slowPath.inc({ name }, 0)
  return { leads: leads => status.set({ name }, leads ? 1 : 0), slowPath: () => slowPath.inc({ name }) }
}
