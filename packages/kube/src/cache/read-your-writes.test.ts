// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createClientOn, defineResource, type KubeObject, outcome } from '../client/index.ts'
import { FakeClock } from '../clock/index.ts'
import { type Fault, failure, SimulatedServer } from '../testing/simulated-server.ts'
import { createCachedClient } from './cached-client.ts'
import { byLabel } from './projection.ts'
import { WatchCache } from './watch-cache.ts'

const pods = defineResource({ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true })
const path = '/api/v1/namespaces/ns/pods'
const parents = ['p', 'q', 'r']
const childrenWanted = 3

/** A small generator of its own: the simulation needs thousands of numbers, and a seed must reproduce them all. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Faults {
  readonly seed: number
  /** Maximum delay of events, in milliseconds. */
  readonly eventDelay: number
  /** Probability that a request or a response is lost, or that the server returns an error. */
  readonly loss: number
  /** Probability per step of a cut watch, forgotten history, and a child that another client deletes. */
  readonly disturbance: number
}

/**
 * Runs a controller that keeps a fixed number of children per parent under these faults. Returns the maximum number
 * of children that any parent ever had on the server, and the final number of each.
 */
async function simulate(faults: Faults): Promise<{ most: number; last: number[]; creates: number }> {
  const random = randomFrom(faults.seed)
  const clock = new FakeClock()
  let noFaults = false
  const fault = (): Fault => {
    if (noFaults || random() >= faults.loss) return undefined
    const kinds = [
      'lose request',
      'lose response',
      failure(429, 'TooManyRequests'),
      failure(500, 'InternalError'),
    ]
    return kinds[Math.floor(random() * kinds.length)] as Fault
  }
  const server = new SimulatedServer({
    fault,
    watchFault: fault,
    delay: what => clock.sleep(random() * (what === 'event' && !noFaults ? faults.eventDelay : 50)),
  })
  const plain = createClientOn(server, { clock, random, maxInFlight: 4 })
  const cache = new WatchCache(plain, pods, { clock, random, indexes: { parent: byLabel('parent') } })
  const client = createCachedClient(plain, [cache])
  const stop = new AbortController()
  const running = [cache.run(stop.signal)]

  let most = 0
  const count = (parent: string) =>
    [...server.objects.values()].filter(({ metadata }) => metadata.labels?.parent === parent).length

  async function reconcile(parent: string): Promise<void> {
    const children = cache.byIndex('parent', parent)
    const missing = childrenWanted - children.length
    const metadata = { generateName: `${parent}-`, namespace: 'ns', labels: { parent } }
    const child: KubeObject = { kind: 'Pod', apiVersion: 'v1', metadata }
    await Promise.all(Array.from({ length: missing }, () => outcome(client.create(pods, child))))
    most = Math.max(most, ...parents.map(count))
    // From time to time the controller itself replaces a child.
    const unlucky = children[0]
    if (!noFaults && unlucky && random() < 0.2) {
      const { uid } = unlucky.metadata
      await outcome(client.delete(pods, unlucky.metadata, { preconditions: { uid } }))
    }
  }

  async function control(parent: string): Promise<void> {
    await cache.waitForSync()
    while (!stop.signal.aborted) {
      await reconcile(parent)
      await clock.sleep(random() * (noFaults ? 5_000 : 100), stop.signal).catch(() => {})
    }
  }
  for (const parent of parents) running.push(control(parent))

  for (let i = 0; i < 60; i++) {
    await clock.advance(random() * 300)
    most = Math.max(most, ...parents.map(count))
    if (random() >= faults.disturbance) continue
    const kind = Math.floor(random() * 4)
    if (kind === 0) server.cutWatches(random() < 0.5 ? 'break' : 'truncate')
    else if (kind === 1) server.compact()
    else if (kind === 2) server.bookmark()
    else {
      const victim = [...server.objects.values()][0]
      if (victim) server.write('DELETE', `${path}/${victim.metadata.name}`)
    }
  }
  noFaults = true
  await clock.advance(200_000)
  const last = parents.map(count)
  stop.abort()
  await clock.advance(60_000)
  await Promise.all(running)
  return { most, last, creates: server.history.filter(({ type }) => type === 'ADDED').length }
}

describe('a controller that reads its own writes from the cache', () => {
  it('never creates one child too many, with any delay of the watch and any loss', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.nat(2 ** 31),
          eventDelay: fc.constantFrom(0, 100, 5_000),
          loss: fc.constantFrom(0, 0.1, 0.4),
          disturbance: fc.constantFrom(0, 0.2, 0.8),
        }),
        async faults => {
          const { most, last } = await simulate(faults)
          assert.ok(most <= childrenWanted, `${most} children at once`)
          assert.deepEqual(
            last,
            parents.map(() => childrenWanted),
          )
        },
      ),
      { numRuns: 100 },
    )
  })
})
