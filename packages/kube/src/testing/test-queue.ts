// SPDX-License-Identifier: Apache-2.0

import { FakeClock } from '../clock/index.ts'
import { WorkQueue, type WorkQueueOptions } from '../queue/queue.ts'

/** A queue with a fake clock and without jitter. */
export function newQueue(options: Partial<WorkQueueOptions<string>> = {}) {
  const clock = new FakeClock()
  return { clock, queue: new WorkQueue({ name: 'test', clock, random: () => 0, ...options }) }
}

/** Takes all available keys in order; each key is done as soon as it is taken. */
export function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = []
  for (let key = queue.takeNow(); key !== undefined; key = queue.takeNow()) {
    keys.push(key)
    queue.done(key)
  }
  return keys
}
