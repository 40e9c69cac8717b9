// SPDX-License-Identifier: Apache-2.0

import { type Logger, silentLogger } from '../log/index.ts'

/** What is needed of `process`. */
export interface SignalledProcess {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  exit(code: number): void
}

/** The exit code of a process that was told twice. */
const impatientExitCode = 1

/** Aborted at the first SIGINT or SIGTERM, for an orderly stop; the second ends the process at once. */
export function stopSignal(log: Logger = silentLogger, of: SignalledProcess = process): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    of.on(signal, () => {
      if (stop.signal.aborted) return of.exit(impatientExitCode)
      log.info('Stopping', { signal })
      stop.abort(new Error(`the process got ${signal}`))
    })
  return stop.signal
}
