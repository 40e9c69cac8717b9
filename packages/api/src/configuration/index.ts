// SPDX-License-Identifier: Apache-2.0

export { leaseTimeMistakes } from './lease-times.ts'
export * from './load.ts'
export * from './operator-configuration.ts'
export {
  defaultScheduler,
  enabledSchedulers,
  supportedSchedulers,
  topologyAwareSchedulers,
} from './schedulers.ts'
export { type Findings, Section } from './section.ts'
export { validateConfiguration } from './validate.ts'
