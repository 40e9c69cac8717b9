// SPDX-License-Identifier: Apache-2.0

// Runs the dashboard with a client in this process, for `grove dashboard` and for tests.
import type { Client, KubeError } from '@grove/kube'
import { DashboardCaches } from './caches/caches.ts'
import { DashboardServer } from './server/server.ts'

export interface DashboardStartOptions {
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly namespace?: string
  readonly allowedHosts?: readonly string[]
  readonly onFailure?: (resource: string, error: KubeError) => void
}

export interface RunningDashboard {
  readonly url: string
  readonly caches: DashboardCaches
  stop(): Promise<void>
}

/** Resolves when the server listens, which may be before the caches are synced. */
export async function startDashboard(
  client: Client,
  { namespace, onFailure, ...address }: DashboardStartOptions,
): Promise<RunningDashboard> {
  const caches = new DashboardCaches(client, {
    ...(namespace !== undefined && { namespace }),
    ...(onFailure && { onFailure }),
  })
  const server = new DashboardServer({ caches, ...address })
  await server.start()
  const end = new AbortController()
  const watching = caches.run(end.signal)
  return {
    url: server.url,
    caches,
    stop: async () => {
      end.abort()
      await server.stop()
      await watching
    },
  }
}
