// SPDX-License-Identifier: Apache-2.0

// The entry point of the init container `crd-installer`.
import { customResourceDefinitions } from '@grove/api'
import {
  type ClusterConfig,
  createClient,
  createLogger,
  loadConfig,
  messageOf,
  stopSignal,
  systemClock,
} from '@grove/kube'
import { parseLaunch, usage } from './arguments.ts'
import { fieldManager, installCrds } from './install.ts'

/** Documented in the usage and in docs/operations/install.md. */
const exitCode = { installed: 0, failed: 1, arguments: 2, downgrade: 3, 'not-established': 4 } as const

const version = process.env.GROVE_VERSION ?? 'v0.1.0-dev'

async function main(args: readonly string[]): Promise<number> {
  const launch = parseLaunch(args)
  switch (launch.task) {
    case 'help':
      process.stdout.write(usage)
      return exitCode.installed
    case 'version':
      process.stdout.write(`grove-install-crds ${version}\n`)
      return exitCode.installed
    case 'print':
      for (const crd of customResourceDefinitions) process.stdout.write(`---\n${JSON.stringify(crd)}\n`)
      return exitCode.installed
    case 'rejected':
      process.stderr.write(`Err: ${launch.message}\n\n${usage}`)
      return exitCode.arguments
    case 'install':
      return install(launch)
  }
}

async function install({ force, timeoutMs }: { force: boolean; timeoutMs: number }): Promise<number> {
  const log = createLogger()
  const cluster = findCluster()
  if (typeof cluster === 'string') {
    process.stderr.write(`Err: ${cluster}\n`)
    return exitCode.arguments
  }
  const client = createClient(cluster, { userAgent: `${fieldManager}/${version}`, managedFields: false })
  try {
    const options = { client, crds: customResourceDefinitions, clock: systemClock, log, force, timeoutMs }
    const result = await installCrds({ ...options, signal: stopSignal(log) })
    if (result.outcome !== 'installed') log.error('failed to install CRDs', { error: result.message })
    return exitCode[result.outcome]
  } catch (error) {
    log.error('failed to install CRDs', { error })
    return exitCode.failed
  } finally {
    await client.close()
  }
}

/** Returns the configuration, or the reason why there is none. */
function findCluster(): ClusterConfig | string {
  try {
    return loadConfig()
  } catch (error) {
    return messageOf(error)
  }
}

// Does not call process.exit, which would truncate output of --print to a pipe.
process.exitCode = await main(process.argv.slice(2))
