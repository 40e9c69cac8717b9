// SPDX-License-Identifier: Apache-2.0

// Where the cluster is and how to be let in
export * from './auth/index.ts'
// What is in the cluster, kept up to date
export * from './cache/index.ts'
// Talking to an API server
export * from './client/index.ts'
// Time
export { type Clock, FakeClock, systemClock, type Timer } from './clock/index.ts'
// Working through keys
export * from './controller/index.ts'
export * from './lease/index.ts'
export * from './log/index.ts'
export * from './metrics/index.ts'
export * from './queue/index.ts'
