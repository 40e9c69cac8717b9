// SPDX-License-Identifier: Apache-2.0

import { FakeClock } from '../clock/index.ts'
import { WorkQueue, type WorkQueueOptions } from '../queue/queue.ts'

/** For tests: a queue whose time is turned by hand and whose waits are not random. */
export function newQueue(options: Partial<WorkQueueOptions<string>> = {}) {
  const clock = new FakeClock()
  return { clock, queue: new WorkQueue({ name: 'test', clock, random: () => 0, ...options }) }
}

/** What is there now, in order; each key is done as soon as it is taken. */
export function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = []
  for (let key = queue.takeNow(); key !== undefined; key = queue.takeNow()) {
    keys.push(key)
    queue.done(key)
  }
  return keys
}
