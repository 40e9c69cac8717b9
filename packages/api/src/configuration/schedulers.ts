// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '../schedulers.ts'
import type { OperatorConfiguration } from './operator-configuration.ts'

/** Every backend that a profile may name. */
export const supportedSchedulers: readonly string[] = Object.values(scheduler)

/** Backends that keep a topology object of their own, which a ClusterTopologyBinding may refer to. */
const topologyAware: ReadonlySet<string> = new Set([scheduler.kai])

/** Names of the enabled backends, in the order of the profiles. */
export function enabledSchedulers({ scheduler: { profiles } }: OperatorConfiguration): ReadonlySet<string> {
  return new Set(profiles.map(profile => profile.name))
}

/** The backend of pods that name no scheduler. */
export function defaultScheduler(configuration: OperatorConfiguration): string {
  return configuration.scheduler.defaultProfileName
}

/** The enabled backends that manage topologies. */
export function topologyAwareSchedulers(configuration: OperatorConfiguration): ReadonlySet<string> {
  return new Set([...enabledSchedulers(configuration)].filter(name => topologyAware.has(name)))
}
