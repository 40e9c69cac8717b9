// SPDX-License-Identifier: Apache-2.0

import { type Clock, counter, type Logger, type Registry } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { codesOf } from '../errors/coded-error.ts'
import { operatorCatalogue } from './catalogue.ts'
import { observeStartups } from './startup-times.ts'
import { observeStates } from './state-gauges.ts'
import { observeUpdates } from './updates.ts'

/** Observes the caches for metrics and for the log. Returns a function that ends the observation. */
export function observeCaches(caches: Caches, clock: Clock, log: Logger, registry?: Registry): () => void {
  const ends = [
    observeUpdates(registry, caches, log),
    ...(registry ? [observeStates(registry, caches, clock), observeStartups(registry, caches, clock)] : []),
  ]
  return () => {
    for (const end of ends) end()
  }
}

/** Returns the handler that counts failed reconciles of a controller by their codes. */
export function reconcileErrors(registry: Registry, controller: string): (error: unknown) => void {
  const errors = counter(registry, operatorCatalogue.errors)
  return error => {
    for (const code of codesOf(error)) errors.inc({ controller, code })
  }
}
