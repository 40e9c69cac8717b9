// SPDX-License-Identifier: Apache-2.0

// The entry point of the operator: reads its command line and configuration and runs until it receives a signal.
import './process/heap-flags.ts'
import { createLogger, messageOf, stopSignal } from '@grove/kube'
import { parseLaunch, usage } from './process/arguments.ts'
import { readConfigurationFile } from './process/configuration-file.ts'
import { exitCode, LaunchError } from './process/exit-code.ts'
import { runOperator } from './process/run.ts'
import { version, versionLine } from './process/version.ts'
import { configurationWarnings } from './process/warnings.ts'

async function main(args: readonly string[]): Promise<number> {
  const launch = parseLaunch(args)
  switch (launch.task) {
    case 'help':
      process.stdout.write(usage)
      return exitCode.done
    case 'version':
      process.stdout.write(`${versionLine()}\n`)
      return exitCode.done
    case 'rejected':
      throw new LaunchError(exitCode.arguments, launch.message)
    case 'run': {
      const { configuration, warnings } = readConfigurationFile(launch.config)
      const log = createLogger({ level: configuration.logLevel, format: configuration.logFormat })
      log.info('Operator starts', { ...version, config: launch.config })
      for (const warning of [...warnings, ...configurationWarnings(configuration, process.env)])
        log.warn(warning)
      await runOperator(configuration, log, stopSignal(log))
      return exitCode.done
    }
  }
}

// An uncaught exception is a bug, so its stack is printed.
process.on('uncaughtException', (error, origin) => {
  process.stderr.write(`Err: ${origin}: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(exitCode.running)
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`Err: ${messageOf(error)}\n`)
  process.exitCode = error instanceof LaunchError ? error.exitCode : exitCode.running
}
// A reconcile that hangs must not keep the process alive after a signal.
process.exit()
