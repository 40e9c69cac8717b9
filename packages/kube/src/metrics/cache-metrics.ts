// SPDX-License-Identifier: Apache-2.0

import type { CacheStatus } from '../cache/watch-cache.ts'
import { type ResourceDescriptor, resourceName } from '../client/index.ts'
import { cacheCatalogue } from './catalogue.ts'
import { counter, gauge, onCollect, type Registry } from './registry.ts'

export interface ObservedCache {
  readonly resource: ResourceDescriptor
  status(): CacheStatus
}

/** Metrics of watch caches, read from their status on each scrape. */
export function cacheMetrics(registry: Registry, caches: readonly ObservedCache[]): void {
  const staleness = gauge(registry, cacheCatalogue.staleness)
  const objects = gauge(registry, cacheCatalogue.objects)
  const lists = counter(registry, cacheCatalogue.lists)
  const failures = counter(registry, cacheCatalogue.failures)
  const seen = new Map<ObservedCache, { lists: number; failures: number }>()
  // The registry reads its metrics in the order of their creation, so the first one refreshes all.
  onCollect(staleness, () => {
    for (const cache of caches) {
      const labels = { resource: resourceName(cache.resource) }
      const status = cache.status()
      const before = seen.get(cache) ?? { lists: 0, failures: 0 }
      seen.set(cache, status)
      objects.set(labels, status.objects)
      if (status.silentSeconds !== undefined) staleness.set(labels, status.silentSeconds)
      lists.inc(labels, status.lists - before.lists)
      failures.inc(labels, status.failures - before.failures)
    }
  })
}
