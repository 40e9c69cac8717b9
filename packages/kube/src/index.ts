// SPDX-License-Identifier: Apache-2.0

// Cluster address and credentials
export * from './auth/index.ts'
// Watch caches
export * from './cache/index.ts'
// Certificates of webhooks with automatic renewal, and the certificate authority of a cluster
export * from './certificates/index.ts'
// API client
export * from './client/index.ts'
// Clocks
export { type Clock, FakeClock, systemClock, type Timer } from './clock/index.ts'
// Controllers
export * from './controller/index.ts'
// Kubernetes events
export * from './events/index.ts'
// Leader election
export * from './lease/index.ts'
export * from './log/index.ts'
// Process lifecycle, probes, metrics and profiles
export * from './manager/index.ts'
export * from './metrics/index.ts'
// Work queue
export * from './queue/index.ts'
// Admission webhooks
export * from './webhook/index.ts'
