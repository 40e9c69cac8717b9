// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Stored } from '../client/index.ts'
import { FakeClock } from '../clock/index.ts'
import { type Item, SimulatedHistory } from '../testing/simulated-history.ts'
import { ObjectCache } from './object-cache.ts'
import { byLabel } from './projection.ts'
import { compareResourceVersions } from './resource-version.ts'

const names = ['a', 'b', 'c'] as const
const action = fc.constantFrom('create', 'modify', 'move', 'terminate', 'delete', 'deleteCollection')
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: action, name: fc.constantFrom(...names), own: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('watch', 'response'), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('list', 'bookmark') }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A cache whose responses and events arrive in the order that the test chooses. */
class CacheSimulation {
  readonly history: SimulatedHistory
  readonly cache: ObjectCache<Item, Item, 'color'>
  readonly responses: (() => void)[] = []
  readonly newest = new Map<string, string>()
  readonly deletedHere = new Set<string>()
  readonly terminating = new Set<string>()
  #arrived: string
  #list: { items: Stored<Item>[]; at: string } | undefined

  constructor(labelSelector: string | undefined) {
    this.history = new SimulatedHistory(object => !labelSelector || object.metadata.labels?.color === 'red')
    this.cache = new ObjectCache<Item, Item, 'color'>({
      scope: { labelSelector },
      project: object => object,
      indexes: { color: byLabel('color') },
      clock: new FakeClock(),
      onHandlerError: error => assert.fail(String(error)),
    })
    this.#checkChanges()
    this.#arrived = this.history.resourceVersion
    this.list()
    this.list()
  }

  /** Begins a list, or finishes the one begun; no events arrive in between. */
  list(): void {
    if (!this.#list) {
      this.cache.beginList()
      this.#list = { items: this.history.selected(), at: this.history.resourceVersion }
      return
    }
    for (const object of this.#list.items) this.cache.listed(object)
    assert.equal(this.cache.endList(this.#list.at), true)
    this.#arrived = this.#list.at
    this.#list = undefined
  }

  watch(count: number): void {
    if (this.#list) return
    for (const event of this.history.eventsAfter(this.#arrived).slice(0, count)) {
      assert.ok(event.type !== 'BOOKMARK')
      const { resourceVersion } = event.object.metadata
      const isKnown = event.type !== 'DELETED' && this.cache.known.has(resourceVersion)
      this.cache.watched(isKnown ? { type: 'BOOKMARK', resourceVersion, initialEventsEnd: false } : event)
      this.#arrived = resourceVersion
    }
  }

  /** Responses may arrive in another order than the requests. */
  deliver(count: number): void {
    for (let i = 0; i < count && this.responses.length > 0; i++)
      this.responses.splice((i * 7) % this.responses.length, 1)[0]!()
  }

  bookmark(): void {
    if (this.#list || this.history.eventsAfter(this.#arrived).length > 0) return
    this.#arrived = this.history.resourceVersion
    this.cache.watched({ type: 'BOOKMARK', resourceVersion: this.#arrived, initialEventsEnd: false })
  }

  deliverAll(): void {
    this.deliver(1_000)
    if (this.#list) this.list()
    this.watch(1_000)
    this.bookmark()
  }

  write(what: string, name: string, own: boolean): void {
    const { history, cache } = this
    const before = history.truth.get(name)
    const respond = (record: () => void) => own && this.responses.push(record)
    const present = (object: Stored<Item> | undefined) => object && respond(() => this.#recordWrite(object))
    switch (what) {
      case 'create':
        return void present(history.create(name, { color: 'red' }))
      case 'modify':
        return void present(history.modify(name, {}))
      case 'move': {
        const color = before?.metadata.labels?.color === 'red' ? 'blue' : 'red'
        return void present(history.modify(name, { labels: { color } }))
      }
      case 'terminate':
        if (before?.metadata.deletionTimestamp) return
        return void present(history.modify(name, { deletionTimestamp: '2026-01-01T00:00:00Z' }))
      case 'delete': {
        const gone = history.remove(name)
        if (!gone) return
        const { uid } = gone.metadata
        respond(() => {
          if (cache.store.get(gone.metadata)?.metadata.uid === uid) this.deletedHere.add(uid)
          cache.recordDeleted(gone.metadata, uid)
        })
        return
      }
      case 'deleteCollection': {
        const items = history.selected()
        for (const { metadata } of items)
          if (own) history.remove(metadata.name)
          else history.modify(metadata.name, { deletionTimestamp: '2026-01-01T00:00:00Z' })
        respond(() => {
          for (const { metadata } of items) {
            cache.recordTerminating(metadata, metadata.uid)
            const shown = cache.store.get(metadata)
            if (shown?.metadata.uid === metadata.uid) assert.ok(shown.metadata.deletionTimestamp)
          }
        })
      }
    }
  }

  #recordWrite(object: Stored<Item>): void {
    this.cache.recordWrite(object)
    const { uid, resourceVersion } = object.metadata
    const shown = this.cache.store.get(object.metadata)
    if (shown?.metadata.uid === uid)
      assert.ok(compareResourceVersions(shown.metadata.resourceVersion, resourceVersion) >= 0)
    else if (object.metadata.labels?.color === 'red') {
      const now = this.history.truth.get(object.metadata.name)
      const unchanged = now?.metadata.uid === uid && now.metadata.resourceVersion === resourceVersion
      assert.ok(!unchanged, 'the newest own write is not visible')
    }
  }

  /** Changes are steps from old to new, never back in time, and never bring back an object that this client deleted. */
  #checkChanges(): void {
    const shown = new Map<string, Stored<Item>>()
    this.cache.onChange(change => {
      const { name, uid, resourceVersion } = (change.new ?? change.old)!.metadata
      assert.equal(change.old, shown.get(name))
      if (!change.new) {
        shown.delete(name)
        return
      }
      const newest = this.newest.get(uid)
      assert.ok(!newest || compareResourceVersions(resourceVersion, newest) >= 0, 'returned an older version')
      assert.ok(!this.deletedHere.has(uid), 'shows an object again that this client deleted')
      assert.ok(change.old === undefined || change.old.metadata.uid === uid)
      const terminating = change.new.metadata.deletionTimestamp !== undefined
      assert.ok(terminating || !this.terminating.has(uid), 'is no longer terminating')
      if (terminating) this.terminating.add(uid)
      this.newest.set(uid, resourceVersion)
      shown.set(name, change.new)
    })
  }
}

function run(simulation: CacheSimulation, steps: readonly Step[]): void {
  for (const each of steps) {
    if (each.do === 'watch') simulation.watch((each as { count: number }).count)
    else if (each.do === 'response') simulation.deliver((each as { count: number }).count)
    else if (each.do === 'list') simulation.list()
    else if (each.do === 'bookmark') simulation.bookmark()
    else {
      const write = each as { name: string; own: boolean }
      simulation.write(each.do, write.name, write.own)
    }
  }
}

describe('ObjectCache with lists, events and responses in any order', () => {
  for (const selector of [undefined, 'color=red'])
    it(`never returns an older version, shows own writes, and ends equal to the server${selector ? ' (selected)' : ''}`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
          const simulation = new CacheSimulation(selector)
          run(simulation, steps)
          simulation.deliverAll()
          const byName = (a: Stored<Item>, b: Stored<Item>) => (a.metadata.name < b.metadata.name ? -1 : 1)
          const truth = simulation.history.selected().sort(byName)
          assert.deepEqual([...simulation.cache.store.values()].sort(byName), truth)
          for (const color of ['red', 'blue'])
            assert.deepEqual(
              simulation.cache.store.byIndex('color', color).sort(byName),
              truth.filter(object => object.metadata.labels?.color === color),
            )
          assert.equal(simulation.cache.pendingDeletions, 0)
          assert.deepEqual([...simulation.cache.known], [])
        }),
        { numRuns: 5_000 },
      )
    })
})
