// SPDX-License-Identifier: Apache-2.0

export { type AccessCheck, type ApiUser, type Reviewer, reviewedAccess, reviewerOf } from './access.ts'
export {
  type EndpointAddress,
  type EndpointHandler,
  type EndpointResponse,
  HttpEndpoint,
  isLoopback,
} from './endpoint.ts'
export {
  type Background,
  type ManagedCache,
  Manager,
  type ManagerOptions,
  type Stoppable,
} from './manager.ts'
export type { MetricsEndpointOptions } from './metrics-endpoint.ts'
export { type HealthCheck, Probe } from './probes.ts'
export { type SignalledProcess, stopSignal } from './signals.ts'
