// SPDX-License-Identifier: Apache-2.0

export { type Backoff, backoffDelay, defaultBackoff } from './backoff.ts'
export { type Priority, priorities } from './fair-order.ts'
export { WorkQueue, type WorkQueueOptions } from './queue.ts'
