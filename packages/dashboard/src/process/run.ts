// SPDX-License-Identifier: Apache-2.0

// The dashboard as a process: probes, caches, and the server.
import { createClient, type Logger, loadConfig, Manager, systemClock } from '@grove/kube'
import { DashboardCaches } from '../caches/caches.ts'
import { DashboardServer } from '../server/server.ts'
import type { DashboardArguments } from './arguments.ts'

export interface RunOptions {
  readonly settings: DashboardArguments
  readonly log: Logger
  readonly stop: AbortSignal
}

export async function runDashboard({ settings, log, stop }: RunOptions): Promise<void> {
  const client = createClient(loadConfig(), { userAgent: 'grove-dashboard', managedFields: false })
  try {
    const caches = new DashboardCaches(client, {
      ...(settings.namespace !== undefined && { namespace: settings.namespace }),
      onFailure: (resource, error, retryInMs) =>
        log.error('Watch failed, retrying', { resource, error, retryInMs: Math.round(retryInMs) }),
    })
    const manager = new Manager({ clock: systemClock, log, probes: settings.probes })
    manager.addHealthCheck('healthz', () => undefined)
    manager.addReadinessCheck('caches', () => {
      if (!caches.hasSynced) throw new Error('the caches are not synced yet')
    })
    const { host, port, allowedHosts } = settings
    const server = new DashboardServer({ caches, host, port, allowedHosts, log })
    // The server starts before the caches are synced, so that the page can report which kind cannot be read.
    manager.addBackground('server', {
      run: async signal => {
        await server.start()
        log.info('Dashboard is served', { url: server.url })
        await new Promise<void>(resolve => {
          if (signal.aborted) resolve()
          else signal.addEventListener('abort', () => resolve(), { once: true })
        })
        await server.stop()
      },
    })
    manager.addCache('caches', caches)
    await manager.run(stop)
  } finally {
    await client.close()
  }
}
