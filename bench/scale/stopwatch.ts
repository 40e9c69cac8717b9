// SPDX-License-Identifier: Apache-2.0

/** Seconds since its creation. */
export function stopwatch(): () => number {
  const started = performance.now()
  return () => (performance.now() - started) / 1000
}

export function pause(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, ms))
}
