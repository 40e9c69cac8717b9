// SPDX-License-Identifier: Apache-2.0

// The entry point of the scheduler: reads its command line and configuration, and runs until it is stopped.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createLogger, messageOf, stopSignal } from '@grove/kube'
import { parse } from 'yaml'
import { readSchedulerConfiguration } from './process/configuration.ts'
import { runScheduler } from './process/run.ts'

const usage = `Usage: grove-scheduler --config FILE [--namespace NAMESPACE] [--dry-run]

  --config FILE   scheduler configuration
  --namespace     namespace of the lease; default: the environment variable GROVE_SCHEDULER_NAMESPACE
  --dry-run       decide and report, but write nothing
  -h, --help      print this text and exit

The cluster is the one that KUBECONFIG names, else the one it runs in, else that of ~/.kube/config.
`
/** Exit codes that scripts and probes distinguish. */
const exitCode = { done: 0, arguments: 1, configuration: 2, running: 6 } as const

class LaunchError extends Error {
  readonly exitCode: number

  constructor(code: number, message: string) {
    super(message)
    this.exitCode = code
  }
}

async function main(args: readonly string[]): Promise<number> {
  const { config, namespace, help, 'dry-run': dryRun = false } = argumentsOf(args)
  if (help) {
    process.stdout.write(usage)
    return exitCode.done
  }
  if (!config) throw new LaunchError(exitCode.arguments, '--config is required; see --help')
  const result = readSchedulerConfiguration(documentOf(config))
  if (!result.ok)
    throw new LaunchError(
      exitCode.configuration,
      `invalid configuration ${config}: ${result.problems.join('; ')}`,
    )
  const { configuration } = result
  const home = namespace ?? process.env.GROVE_SCHEDULER_NAMESPACE ?? ''
  if (configuration.leaderElection.enabled && !configuration.leaderElection.resourceNamespace && !home)
    throw new LaunchError(
      exitCode.arguments,
      'the lease needs a namespace: set --namespace, GROVE_SCHEDULER_NAMESPACE or leaderElection.resourceNamespace',
    )
  const log = createLogger({ level: configuration.logLevel, format: configuration.logFormat })
  await runScheduler({ configuration, namespace: home, log, stop: stopSignal(log), dryRun })
  return exitCode.done
}

function argumentsOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        config: { type: 'string' },
        namespace: { type: 'string' },
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new LaunchError(exitCode.arguments, `${(error as Error).message}; see --help`)
  }
}

function documentOf(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'), { maxAliasCount: 100 })
  } catch (error) {
    throw new LaunchError(
      exitCode.configuration,
      `cannot read configuration ${path}: ${(error as Error).message}`,
    )
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`Err: ${messageOf(error)}\n`)
  process.exitCode = error instanceof LaunchError ? error.exitCode : exitCode.running
}
process.exit()
