// SPDX-License-Identifier: Apache-2.0

/** CPU time of this process in milliseconds. On a busy machine it is more reliable than elapsed time. */
export interface Timing {
  readonly runs: number
  readonly cpuMs: { readonly min: number; readonly median: number; readonly max: number }
}

/** Runs the work once to warm up, then several times. */
export function timed(runs: number, work: () => unknown): Timing {
  work()
  const times = Array.from({ length: runs }, () => {
    globalThis.gc?.()
    const started = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }).sort((left, right) => left - right)
  const round = (value: number) => Math.round(value * 10) / 10
  return {
    runs,
    cpuMs: {
      min: round(times[0]!),
      median: round(times[Math.floor(times.length / 2)]!),
      max: round(times.at(-1)!),
    },
  }
}

export function heapMiB(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20 + process.memoryUsage().arrayBuffers / 2 ** 20
}
