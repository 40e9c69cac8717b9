// SPDX-License-Identifier: Apache-2.0

// Where the cluster is and how to be let in
export * from './auth/index.ts'
// What is in the cluster, kept up to date
export * from './cache/index.ts'
// Certificates: those of webhooks, which renew themselves, and the authority of a cluster
export * from './certificates/index.ts'
// Talking to an API server
export * from './client/index.ts'
// Time
export { type Clock, FakeClock, systemClock, type Timer } from './clock/index.ts'
// Working through keys
export * from './controller/index.ts'
// Telling users what happened to their objects
export * from './events/index.ts'
// Who leads
export * from './lease/index.ts'
export * from './log/index.ts'
// Starting and stopping a process; its probes, metrics and profiles
export * from './manager/index.ts'
export * from './metrics/index.ts'
// Which key is next
export * from './queue/index.ts'
// Admission webhooks
export * from './webhook/index.ts'
