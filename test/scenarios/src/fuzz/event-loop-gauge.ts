// SPDX-License-Identifier: Apache-2.0

// Preloaded into the operator process (`node --expose-gc --import`): appends one line of JSON per interval to the file
// that the query of its URL names. SIGUSR2 collects garbage first, so that the line shows live memory.
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

export interface GaugeLine {
  /** Child processes inherit the preload. */
  readonly pid: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The longest block of the event loop in this interval. */
  readonly stallMs: number
  readonly residentMiB: number
  readonly heapMiB: number
  /** True if a garbage collection ran just before. */
  readonly collected: boolean
}

const intervalMs = 500
const resolutionMs = 5
const mebibyte = 2 ** 20

// Worker threads inherit the preload; only the main thread renews leases and responds to probes.
if (isMainThread) {
  const file = new URL(import.meta.url).searchParams.get('file') ?? ''
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const record = (collected: boolean) => {
    const { rss, heapUsed } = process.memoryUsage()
    const line: GaugeLine = {
      pid: process.pid,
      at: Date.now(),
      stallMs: Math.max(0, delay.max / 1e6 - resolutionMs),
      residentMiB: rss / mebibyte,
      heapMiB: heapUsed / mebibyte,
      collected,
    }
    delay.reset()
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }
  setInterval(record, intervalMs, false).unref()
  process.on('SIGUSR2', () => {
    record(false)
    global.gc?.()
    // The pause of the forced collection does not count.
    delay.reset()
    record(true)
  })
}
