// SPDX-License-Identifier: Apache-2.0

import { type Clock, systemClock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'

/** The part of `process` that is needed. */
export interface SignalledProcess {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  exit(code: number): void
}

/** The exit code after a second signal. */
const secondSignalExitCode = 1

/**
 * A terminal or service manager sends a signal to the whole process group, and a parent such as npm forwards it. The
 * same signal within this time is the same request.
 */
const sameRequestMs = 1_000

/** Aborted at the first SIGINT or SIGTERM, for an orderly stop; a second one ends the process at once. */
export function stopSignal(
  log: Logger = silentLogger,
  of: SignalledProcess = process,
  clock: Clock = systemClock,
): AbortSignal {
  const stop = new AbortController()
  let first: { readonly signal: string; readonly at: number } | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    of.on(signal, () => {
      if (first?.signal === signal && clock.monotonic() - first.at < sameRequestMs) return
      if (first) return of.exit(secondSignalExitCode)
      first = { signal, at: clock.monotonic() }
      log.info('Stopping', { signal })
      stop.abort(new Error(`the process received ${signal}`))
    })
  return stop.signal
}
