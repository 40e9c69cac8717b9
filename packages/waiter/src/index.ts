// SPDX-License-Identifier: Apache-2.0

export { type CommandLine, type Parents, parseCommandLine } from './arguments.ts'
export type { Clock } from './clock.ts'
export { type Timing, timing } from './timing.ts'
export type { Transport, TransportRequest, TransportStream } from './transport.ts'
export { exitCode, runWaiter, type WaiterOptions } from './waiter.ts'
