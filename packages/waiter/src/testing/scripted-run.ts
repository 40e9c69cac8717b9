// SPDX-License-Identifier: Apache-2.0

// Runs the waiter on a scripted server. Also creates the events that such a server sends.
import { runWaiter, type WaiterOptions } from '../waiter.ts'
import { ImmediateClock, pod, type ScriptedServer as Server } from './scripted-server.ts'

export interface Run {
  readonly code: number
  readonly lines: string[]
  readonly pauses: readonly number[]
}

export async function run(
  server: Server,
  args: readonly string[],
  options: Partial<WaiterOptions> = {},
): Promise<Run> {
  const lines: string[] = []
  const clock = new ImmediateClock()
  const transport = server.connection
  try {
    const code = await runWaiter({
      args,
      namespace: 'team',
      transport,
      clock,
      random: () => 0.5,
      log: line => lines.push(line),
      ...options,
    })
    return { code, lines, pauses: clock.pauses }
  } finally {
    transport.close()
  }
}

export const added = (...pod_: Parameters<typeof pod>) => ({ type: 'ADDED', object: pod(...pod_) })
export const modified = (...pod_: Parameters<typeof pod>) => ({ type: 'MODIFIED', object: pod(...pod_) })
export const deleted = (...pod_: Parameters<typeof pod>) => ({ type: 'DELETED', object: pod(...pod_) })
export const bookmark = (version: string) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: version } },
})
export const gone = {
  type: 'ERROR',
  object: { kind: 'Status', code: 410, message: 'too old resource version' },
}
export const versions = (server: Server) => server.requests.map(({ query }) => query.resourceVersion)
