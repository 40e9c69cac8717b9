// SPDX-License-Identifier: Apache-2.0

// The entry point of the dashboard: reads its command line, and serves until it is stopped.
import { createLogger, messageOf, stopSignal } from '@grove/kube'
import { ArgumentError, readArguments, usage } from './process/arguments.ts'
import { runDashboard } from './process/run.ts'

/** Exit codes that scripts and probes distinguish. */
const exitCode = { done: 0, arguments: 1, running: 6 } as const

async function main(args: readonly string[]): Promise<number> {
  const settings = readArguments(args)
  if (settings === 'help') {
    process.stdout.write(usage)
    return exitCode.done
  }
  const log = createLogger({ level: settings.logLevel, format: 'json' })
  await runDashboard({ settings, log, stop: stopSignal(log) })
  return exitCode.done
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`Err: ${messageOf(error)}\n`)
  process.exitCode = error instanceof ArgumentError ? exitCode.arguments : exitCode.running
}
process.exit()
