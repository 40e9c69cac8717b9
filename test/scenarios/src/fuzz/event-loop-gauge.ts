// SPDX-License-Identifier: Apache-2.0

// Preloaded into the operator process (`node --expose-gc --import`): appends one line of JSON per interval to the file
// that the query of its URL names. SIGUSR2 collects garbage first, so that the line shows live memory.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

export interface GaugeLine {
  /** Child processes inherit the preload, too. */
  readonly pid: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The longest time between two turns of the event loop, in this interval. */
  readonly delayMs: number
  /** The same without the time in which the thread had no processor, because other processes used it. */
  readonly stallMs: number
  readonly residentMiB: number
  readonly heapMiB: number
  /** Garbage was collected just before. */
  readonly collected: boolean
}

const intervalMs = 500
const resolutionMs = 5
const mebibyte = 2 ** 20

// Worker threads inherit the preload; only the main thread renews leases and answers probes.
if (isMainThread) {
  const file = new URL(import.meta.url).searchParams.get('file') ?? ''
  const longest = { delayMs: 0, stallMs: 0 }
  let last = { at: performance.now(), cpuMs: threadCpuMs() }
  const turn = () => {
    const now = { at: performance.now(), cpuMs: threadCpuMs() }
    const delayMs = Math.max(0, now.at - last.at - resolutionMs)
    longest.delayMs = Math.max(longest.delayMs, delayMs)
    longest.stallMs = Math.max(longest.stallMs, Math.min(delayMs, now.cpuMs - last.cpuMs))
    last = now
  }
  const reset = () => {
    last = { at: performance.now(), cpuMs: threadCpuMs() }
    Object.assign(longest, { delayMs: 0, stallMs: 0 })
  }
  setInterval(turn, resolutionMs).unref()
  const record = (collected: boolean) => {
    const { rss, heapUsed } = process.memoryUsage()
    const line: GaugeLine = {
      pid: process.pid,
      at: Date.now(),
      ...longest,
      residentMiB: rss / mebibyte,
      heapMiB: heapUsed / mebibyte,
      collected,
    }
    reset()
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }
  setInterval(record, intervalMs, false).unref()
  process.on('SIGUSR2', () => {
    record(false)
    global.gc?.()
    // The pause of the forced collection is not the operator's.
    reset()
    record(true)
  })
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
