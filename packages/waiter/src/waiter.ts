// SPDX-License-Identifier: Apache-2.0

import { ApiConnection } from './api-connection.ts'
import { type Parents, parseCommandLine, usage } from './arguments.ts'
import { type Clock, systemClock } from './clock.ts'
import {
  type Environment,
  EnvironmentError,
  namespaceIn,
  serverIn,
  serviceAccountDirectoryIn,
} from './environment.ts'
import { ParentReadiness } from './parents.ts'
import { type PodWatchEvent, watchPods } from './pod-watch.ts'
import { type Log, ProgressLog } from './progress-log.ts'
import { type Timing, timing } from './timing.ts'
import type { Transport } from './transport.ts'

export interface WaiterOptions {
  /** The command line, without the program. */
  readonly args: readonly string[]
  /** The source of files and address, unless `namespace` and `transport` are given. */
  readonly environment?: Environment
  readonly namespace?: string
  /** Must authenticate the requests; the token file is not read. */
  readonly transport?: Transport
  readonly clock?: Clock
  readonly random?: () => number
  readonly timing?: Partial<Timing>
  readonly log?: Log
  /** Reports errors before the wait, after which the exit code is 1. Default: `log`. */
  readonly logError?: Log
  /** Ends the wait, with exit code 1. */
  readonly signal?: AbortSignal
}

export const exitCode = { done: 0, failed: 1 } as const

/**
 * Returns the exit code. A code other than 0 counts against the workload's availability. So once the wait has
 * started, only the signal causes one; the program retries every failure of the API server.
 */
export async function runWaiter(options: WaiterOptions): Promise<number> {
  const log = options.log ?? (line => process.stdout.write(`${line}\n`))
  const logError = options.logError ?? log
  const command = parseCommandLine(options.args)
  switch (command.task) {
    case 'help':
      log(usage.trimEnd())
      return exitCode.done
    case 'invalid':
      logError(`error: ${command.message}`)
      return exitCode.failed
    case 'wait':
      try {
        return await waitFor(command.parents, options, log)
      } catch (error) {
        if (!(error instanceof EnvironmentError)) throw error
        logError(`error: ${error.message}`)
        return exitCode.failed
      }
  }
}

async function waitFor(parents: Parents, options: WaiterOptions, log: Log): Promise<number> {
  const readiness = new ParentReadiness(parents)
  const progress = new ProgressLog(log, readiness)
  // Without parents the program needs neither the pod's files nor the API server, so they cannot fail.
  if (parents.size === 0) {
    progress.done()
    return exitCode.done
  }
  const { environment = {}, namespace = namespaceIn(environment) } = options
  const connection = options.transport ? undefined : connectionIn(environment)
  progress.start(parents, namespace)
  const clock = options.clock ?? systemClock
  const times = { ...timing, ...options.timing }
  const stopReminding = repeat(clock, times.reminderMs, () => progress.reminder())
  try {
    const events = watchPods({
      transport: options.transport ?? connection!,
      namespace,
      cliques: [...parents.keys()],
      clock,
      random: options.random ?? Math.random,
      timing: times,
      signal: options.signal ?? new AbortController().signal,
    })
    for await (const event of events) {
      applyEvent(event, readiness, progress)
      if (event.kind !== 'failed' && event.kind !== 'connected' && readiness.missing.length === 0) {
        progress.done()
        return exitCode.done
      }
    }
    progress.stopped()
    return exitCode.failed
  } finally {
    stopReminding()
    connection?.close()
  }
}

function applyEvent(event: PodWatchEvent, readiness: ParentReadiness, progress: ProgressLog): void {
  switch (event.kind) {
    case 'snapshot':
      readiness.replace(event.pods)
      break
    case 'changed':
      readiness.update(event.pod)
      break
    case 'deleted':
      readiness.remove(event.name)
      break
    case 'connected':
      break
    case 'failed':
      progress.failed(event.message)
      return
  }
  progress.observed()
}

function connectionIn(environment: Environment): ApiConnection {
  return new ApiConnection({
    server: serverIn(environment),
    serviceAccountDirectory: serviceAccountDirectoryIn(environment),
  })
}

function repeat(clock: Clock, ms: number, action: () => void): () => void {
  const again = () => {
    action()
    timer = clock.setTimeout(again, ms)
  }
  let timer = clock.setTimeout(again, ms)
  return () => timer.cancel()
}
