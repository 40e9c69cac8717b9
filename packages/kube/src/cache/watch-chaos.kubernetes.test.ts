// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { type Client, createClient, type Stored } from '../client/index.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { ChaosProxy, type WatchFault } from '../testing/chaos-proxy.ts'
import { type ConfigMap, configMaps } from '../testing/config-maps.ts'
import { createCachedClient } from './cached-client.ts'
import type { Change } from './change.ts'
import { byLabel } from './projection.ts'
import { WatchCache } from './watch-cache.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const heap = () => {
  for (let i = 0; i < 3; i++) collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Shortens the waits of the cache; a thousand full waits would take an hour. */
const fastClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 50, signal) }

/** Every state of an object is numbered, so a lost one leaves a gap. */
const filler = 'äöü€'.repeat(40)
const pick = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)]!
const bytes = () => Math.floor(Math.random() * 20_000)

const cuts: (() => WatchFault)[] = [
  () => ({ kind: 'kill', afterBytes: bytes() }),
  () => ({ kind: 'kill', afterBytes: 1 }),
  () => ({ kind: 'truncate', afterBytes: bytes() }),
  () => ({ kind: 'status', status: pick([429, 500, 503]) }),
]
/** Costs real time, because the cache must detect the silence. */
const hang = (): WatchFault => ({ kind: 'hang', afterBytes: bytes() })
const expiries: (() => WatchFault)[] = [
  () => ({ kind: 'status', status: 410 }),
  () => ({ kind: 'expire', afterBytes: bytes() }),
]

describe('WatchCache behind a network with constant faults', () => {
  let cluster: Kubernetes
  let direct: Client
  let proxy: ChaosProxy
  let through: Client
  let fault: () => WatchFault = () => ({ kind: 'none' })
  let hold = 0

  before(async () => {
    cluster = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
    direct = createClient(loadKubeconfig({ path: cluster.kubeconfig }))
    proxy = await ChaosProxy.start({
      server: cluster.server,
      ca: cluster.ca,
      certificate: cluster.admin.cert,
      key: cluster.admin.key,
      watchFault: () => fault(),
      watchDelayMs: () => hold,
    })
    const tls = { ca: proxy.ca }
    through = createClient({ server: `https://localhost:${proxy.port}`, namespace: 'x', tls: () => tls })
  })
  after(async () => {
    await direct?.close()
    await proxy?.stop()
    await cluster?.stop()
  })

  /** Changes objects of the namespace until `until` returns true. */
  async function churn(namespace: string, until: () => boolean): Promise<void> {
    const worker = async (name: string) => {
      for (let state = 1; !until(); state++) {
        const ref = { namespace, name }
        const data = { state: String(state), filler }
        if (state % 20 === 1) await direct.create(configMaps, { metadata: ref, data })
        else if (state % 20 === 0) await direct.delete(configMaps, ref)
        else await direct.patch(configMaps, ref, { merge: { data } })
        await systemClock.sleep(15)
      }
    }
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(worker))
  }

  function watchCache(namespace: string, changes: Change<ConfigMap>[], onCut: () => void) {
    const cache = new WatchCache<ConfigMap>(through, configMaps, {
      namespace,
      idleTimeoutMs: 500,
      clock: fastClock,
      onFailure: onCut,
    })
    cache.onChange(change => void changes.push(change))
    return cache
  }

  /** No write follows the last one, so a cache that has received it is complete. */
  async function equalsServer(cache: WatchCache<ConfigMap>, last: Stored<ConfigMap>): Promise<void> {
    const { namespace = '', name, resourceVersion } = last.metadata
    await waitFor(
      'the last write to arrive',
      () => cache.get({ namespace, name })?.metadata.resourceVersion === resourceVersion,
    )
    const { items } = await direct.list(configMaps, { namespace })
    const versions = (objects: readonly Stored<ConfigMap>[]) =>
      objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()
    assert.deepEqual(versions(cache.list()), versions(items))
  }

  for (const [what, wanted, kinds] of [
    ['killed, truncated, rejected and hanging', 750, cuts],
    ['with expired history', 250, [...cuts, ...expiries, ...expiries]],
  ] as const) {
    const mayList = kinds.includes(expiries[0]!)
    it(`equals a fresh list after ${wanted} watches were cut: ${what}`, async test => {
      const namespace = await cluster.newNamespace('chaos')
      const changes: Change<ConfigMap>[] = []
      let broken = 0
      const cache = watchCache(namespace, changes, () => broken++)
      const stop = new AbortController()
      let done = false
      // Also stop after a failure: endless changes would keep the process running.
      test.after(() => {
        done = true
        stop.abort()
      })
      const running = cache.run(stop.signal)
      await cache.waitForSync()
      fault = () => (Math.random() < 0.03 ? hang() : pick(kinds)())
      proxy.dropConnections()
      const newest = new Map<string, bigint>()
      const reported = new Set<string>()
      const states = new Map<string, number>()
      let gaps = 0
      const check = () => {
        for (const { type, old, new: now } of changes.splice(0)) {
          const { uid, name, resourceVersion } = (now ?? old)!.metadata
          if (type === 'delete') continue
          assert.ok(!reported.has(`${uid} ${resourceVersion}`), 'an event was applied twice')
          assert.ok(BigInt(resourceVersion) > (newest.get(uid) ?? 0n), 'the cache returned an older state')
          reported.add(`${uid} ${resourceVersion}`)
          newest.set(uid, BigInt(resourceVersion))
          const state = Number(now.data!.state)
          const before = states.get(name) ?? 0
          // The state in between was the deletion.
          if (state !== before + 1 && !(before % 20 === 19 && state === before + 2)) gaps++
          states.set(name, state)
          assert.equal(now.data!.filler, filler)
        }
      }
      let heapAtTenth: number | undefined
      const churning = churn(namespace, () => done)
      while (broken < wanted) {
        await systemClock.sleep(20)
        check()
        if (heapAtTenth === undefined && broken >= wanted / 10) heapAtTenth = heap()
      }
      done = true
      await churning
      fault = () => ({ kind: 'none' })
      const data = { state: '1', filler }
      const last = await direct.create(configMaps, { metadata: { namespace, name: 'last' }, data })
      await equalsServer(cache, last)
      check()
      const { lists } = cache.status()
      if (mayList) assert.ok(lists > 1, `${lists} lists`)
      else {
        assert.equal(lists, 1, 'listed again although the server still had the history')
        assert.equal(gaps, 0, 'events were lost')
      }
      const grown = heap() - heapAtTenth! - reported.size * 200
      assert.ok(grown < 8 * 1024 * 1024, `the heap grew by ${grown} bytes`)
      stop.abort()
      await running
      console.log(
        `${broken} cuts`,
        Object.fromEntries(proxy.broken),
        `${reported.size} states, ${lists} lists`,
      )
    })
  }

  it('never lets a controller create one child too many while events are delayed for seconds', async test => {
    const namespace = await cluster.newNamespace('held')
    fault = () => (Math.random() < 0.5 ? pick(cuts)() : { kind: 'none' })
    hold = 2_000
    const cache = new WatchCache<ConfigMap, ConfigMap, 'parent'>(through, configMaps, {
      namespace,
      indexes: { parent: byLabel('parent') },
      idleTimeoutMs: 5_000,
    })
    const client = createCachedClient(through, [cache])
    const stop = new AbortController()
    test.after(() => {
      hold = 0
      stop.abort()
    })
    const running = cache.run(stop.signal)
    await cache.waitForSync()
    const wanted = 5
    const parents = ['p', 'q', 'r', 's']
    let most = 0
    const reconcile = async (parent: string, round: number) => {
      const children = cache.byIndex('parent', parent)
      const metadata = { namespace, generateName: `${parent}-`, labels: { parent } }
      const missing = Array.from({ length: wanted - children.length }, () => ({ metadata }))
      await Promise.all(missing.map(child => client.create(configMaps, child)))
      const { items } = await direct.list(configMaps, { namespace, labelSelector: `parent=${parent}` })
      most = Math.max(most, items.length)
      const replaced = cache.byIndex('parent', parent)[round % wanted]!
      await client.delete(configMaps, replaced.metadata, { preconditions: { uid: replaced.metadata.uid } })
    }
    await Promise.all(
      parents.map(async parent => {
        for (let round = 0; round < 40; round++) await reconcile(parent, round)
      }),
    )
    assert.equal(most, wanted)
    stop.abort()
    await running
  })
})
