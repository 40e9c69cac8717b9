// SPDX-License-Identifier: Apache-2.0

// `grove dashboard` serves the web dashboard from this process, with the permissions of the user.
import { type RunningDashboard, startDashboard } from '@grove/dashboard'
import type { Client, KubeError } from '@grove/kube/client'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { printLines, printNote } from '../terminal/print.ts'
import { portNumber } from './options.ts'
import { stopSignal } from './up/stop-signal.ts'

export interface DashboardOptions extends ClusterOptions {
  readonly port?: string
}

export async function dashboard(options: DashboardOptions): Promise<void> {
  const port = options.port === undefined ? 0 : portNumber('--port', options.port)
  const stop = stopSignal(() => {})
  try {
    await withCluster(options, async ({ client, server }) => {
      const running = await start(client, port, options.namespace)
      try {
        printLines([`Dashboard of ${server}: ${running.url}`, 'Press Ctrl-C to stop it.'])
        await stop.promise
      } finally {
        await running.stop()
      }
    })
  } finally {
    stop.forget()
  }
}

async function start(client: Client, port: number, namespace: string | undefined): Promise<RunningDashboard> {
  /** Reports each problem once, because the watches retry until the user stops the command. */
  const printed = new Set<string>()
  const onFailure = (resource: string, { message }: KubeError) => {
    const text = `cannot read ${resource}, retrying: ${message}`
    if (!printed.has(text)) printNote(text)
    printed.add(text)
  }
  try {
    return await startDashboard(client, { port, onFailure, ...(namespace !== undefined && { namespace }) })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE')
      throw new CommandError(`port ${port} is in use; set another --port, or omit it to use any free port`)
    if (code === 'EACCES') throw new CommandError(`port ${port} requires more privileges; use one above 1023`)
    throw error
  }
}
