// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '../schedulers.ts'
import type { OperatorConfiguration } from './operator-configuration.ts'

/** The gang scheduler of this project, and gangs in the terms of the stock kube-scheduler. */
const ownSchedulers = ['grove-scheduler', 'kubernetes']

/** Every backend that a profile may name. */
export const supportedSchedulers: readonly string[] = [
  scheduler.kai,
  scheduler.default,
  scheduler.volcano,
  scheduler.lpx,
  ...ownSchedulers,
]

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
