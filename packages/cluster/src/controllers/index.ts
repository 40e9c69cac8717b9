// SPDX-License-Identifier: Apache-2.0

export { Autoscaler, type AutoscalerOptions } from './autoscaler/autoscaler.ts'
export { type DescribedObject, type MetricsSource, SettableMetrics } from './autoscaler/metrics-source.ts'
export { Caches, type CachesOptions } from './caches.ts'
export { type ComponentEvent, ComponentEvents } from './component-events.ts'
export { type Allowance, allowance } from './disruption/allowance.ts'
export type { NodeLifecycleOptions } from './node-lifecycle/node-lifecycle.ts'
export type { PodCleanerOptions } from './node-lifecycle/pod-cleaner.ts'
export type { Component, Runtime } from './runtime.ts'
export type { ServiceAccountOptions, TokenIssuer } from './service-accounts/service-account-controller.ts'
export {
  type ControllerName,
  type ControllersOptions,
  type RunningControllers,
  startControllers,
} from './start-controllers.ts'
