// SPDX-License-Identifier: Apache-2.0

// A watch cache on a simulated server, with a clock that the test controls.

import type { Change } from '../cache/change.ts'
import { byLabel } from '../cache/projection.ts'
import { WatchCache, type WatchCacheOptions } from '../cache/watch-cache.ts'
import {
  createClientOn,
  defineResource,
  type KubeError,
  type KubeObject,
  type Transport,
} from '../client/index.ts'
import { FakeClock } from '../clock/index.ts'
import { SimulatedServer, type SimulatedServerOptions } from './simulated-server.ts'

const pods = defineResource({
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
})
export const path = '/api/v1/namespaces/ns/pods'
export const pod = (name: string, app = 'x') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', labels: { app }, managedFields: [{}] },
})

export class CacheHarness {
  readonly clock = new FakeClock()
  readonly changes: Change<KubeObject>[] = []
  readonly failures: KubeError[] = []
  readonly server: SimulatedServer
  readonly cache: WatchCache<KubeObject, KubeObject, 'app'>
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(
    server: SimulatedServerOptions = {},
    options: Partial<WatchCacheOptions<KubeObject, KubeObject, 'app'>> = {},
    transport?: Transport,
  ) {
    this.server = new SimulatedServer(server)
    const client = createClientOn(transport ?? this.server, { clock: this.clock, random: () => 0.5 })
    this.cache = new WatchCache(client, pods, {
      clock: this.clock,
      random: () => 0.5,
      indexes: { app: byLabel('app') },
      onFailure: error => void this.failures.push(error),
      ...options,
    })
    this.cache.onChange(change => void this.changes.push(change))
  }

  async start(): Promise<this> {
    this.#running = this.cache.run(this.#stop.signal)
    await this.clock.flushPromises()
    return this
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  names(): string[] {
    return this.cache
      .list()
      .map(({ metadata }) => metadata.name)
      .sort()
  }

  takeChanges(): string[] {
    return this.changes.splice(0).map(({ type, old, new: now }) => `${type} ${(now ?? old)!.metadata.name}`)
  }

  lists(): number {
    return this.server.requests.filter(({ path }) => !path.includes('watch=') || path.includes('sendInitial'))
      .length
  }
}
