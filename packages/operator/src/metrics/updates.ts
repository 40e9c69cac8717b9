// SPDX-License-Identifier: Apache-2.0

// Counts and logs the updates of sets, from the changes of their status.
import { counter, histogram, type Logger, type Registry } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import type { StoredSet } from '../layout/stored.ts'
import { isUpdating } from '../state/child-state.ts'
import { operatorCatalogue } from './catalogue.ts'
import { identityOf } from './identity.ts'
import { podCount, sizeClassOf } from './states.ts'

/** Returns a function that ends the observation. */
export function observeUpdates(
  registry: Registry | undefined,
  caches: Pick<Caches, 'sets'>,
  log: Logger,
): () => void {
  const started = registry && counter(registry, operatorCatalogue.updatesStarted)
  const duration = registry && histogram(registry, operatorCatalogue.updateDuration)
  return caches.sets.onChange(change => {
    if (change.type !== 'update') return
    const { old, new: set } = change
    const { updateStartedAt, updateEndedAt } = set.status?.updateProgress ?? {}
    if (isUpdating(set) && updateStartedAt !== old.status?.updateProgress?.updateStartedAt) {
      started?.inc()
      log.info('Update started', { ...identityOf(set), generationHash: set.status?.currentGenerationHash })
    }
    if (!updateEndedAt || !isUpdating(old)) return
    const seconds = secondsOfUpdate(set)
    duration?.observe({ size: sizeClassOf(podCount(set)) }, seconds)
    log.info('Update finished', { ...identityOf(set), seconds })
  })
}

function secondsOfUpdate({ status }: StoredSet): number {
  const { updateStartedAt = '', updateEndedAt = '' } = status?.updateProgress ?? {}
  const seconds = (Date.parse(updateEndedAt) - Date.parse(updateStartedAt)) / 1000
  return seconds > 0 ? seconds : 0
}
