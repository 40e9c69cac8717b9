// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '../schedulers.ts'
import type { OperatorConfiguration } from './operator-configuration.ts'

/** Every backend that a profile may name. */
export const supportedSchedulers: readonly string[] = Object.values(scheduler)

/** Backends with a topology object of their own, which a ClusterTopologyBinding may reference. */
const topologyAware: ReadonlySet<string> = new Set([scheduler.kai])

/** Names of the enabled backends, in profile order. */
export function enabledSchedulers({ scheduler: { profiles } }: OperatorConfiguration): ReadonlySet<string> {
  return new Set(profiles.map(profile => profile.name))
}

/** The backend of pods without a scheduler name. */
export function defaultScheduler(configuration: OperatorConfiguration): string {
  return configuration.scheduler.defaultProfileName
}

/** The enabled backends that manage topologies. */
export function topologyAwareSchedulers(configuration: OperatorConfiguration): ReadonlySet<string> {
  return new Set([...enabledSchedulers(configuration)].filter(name => topologyAware.has(name)))
}
