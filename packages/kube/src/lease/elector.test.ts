// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KubeError } from '../client/error.ts'
import { FakeClock } from '../clock/index.ts'
import { createRegistry } from '../metrics/index.ts'
import { LeaseElector, type LeaseElectorOptions } from './elector.ts'
import { LeadershipLost } from './leadership.ts'
import { type LeaseClient, leaseClient } from './lease-client.ts'
import { type Lease, microTime } from './record.ts'

const never = new AbortController().signal

class StoredLease implements LeaseClient {
  lease: Lease | undefined
  failing = false
  #version = 0

  async read(): Promise<Lease | undefined> {
    if (this.failing) throw new Error('no route to host')
    return this.lease
  }

  async create(lease: Lease): Promise<Lease | 'conflict'> {
    return this.lease ? 'conflict' : this.#store(lease)
  }

  async update(lease: Lease): Promise<Lease | 'conflict'> {
    if (this.failing) throw new Error('no route to host')
    if (this.lease?.metadata?.resourceVersion !== lease.metadata?.resourceVersion) return 'conflict'
    return this.#store(lease)
  }

  /** Another client writes the Lease. */
  change(spec: Lease['spec']): void {
    this.#store({ ...this.lease, spec: { ...this.lease?.spec, ...spec } })
  }

  #store(lease: Lease): Lease {
    this.lease = {
      ...lease,
      metadata: { ...lease.metadata, uid: 'u', resourceVersion: String(++this.#version) },
    }
    return this.lease
  }
}

function candidate(client: LeaseClient, clock: FakeClock, options: Partial<LeaseElectorOptions> = {}) {
  return new LeaseElector({ namespace: 'system', name: 'lock', client, clock, random: () => 0, ...options })
}

describe('Lease records', () => {
  it('equal those of client-go, from the first holder to the hand-over', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1))
    const client = new StoredLease()
    const first = candidate(client, clock, { identity: 'host-a_1' })
    await first.acquire(never)
    assert.deepEqual(client.lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'system', name: 'lock', uid: 'u', resourceVersion: '1' },
      spec: {
        holderIdentity: 'host-a_1',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    })
    await clock.advance(4_000)
    assert.equal(client.lease?.spec?.renewTime, '2026-01-01T00:00:04.000000Z')
    assert.equal(client.lease?.spec?.acquireTime, '2026-01-01T00:00:00.000000Z')
    await first.release({ handOver: true })
    assert.deepEqual(client.lease?.spec, {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:00:04.000000Z',
      renewTime: '2026-01-01T00:00:04.000000Z',
      leaseTransitions: 0,
    })
    const second = candidate(client, clock, { identity: 'host-b_2' })
    await second.acquire(never)
    assert.equal(client.lease?.spec?.leaseTransitions, 1)
    assert.equal(client.lease?.spec?.holderIdentity, 'host-b_2')
    await second.release({ handOver: false })
    assert.equal(client.lease?.spec?.holderIdentity, 'host-b_2')
  })

  it('keep microseconds if present', () => {
    assert.equal(microTime(1_767_225_600_123.456), '2026-01-01T00:00:00.123456Z')
  })

  it('identify the holder by host name and a new id by default', () => {
    const elector = candidate(new StoredLease(), new FakeClock())
    assert.match(elector.leadership.identity, /^.+_[0-9a-f]{8}-[0-9a-f-]{27}$/)
  })
})

describe('a candidate', () => {
  it('waits for the whole lease duration after the last change that it saw, regardless of the times in the record', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const foreign = {
      holderIdentity: 'other',
      leaseDurationSeconds: 20,
      renewTime: '1999-01-01T00:00:00.000000Z',
      leaseTransitions: 7,
    }
    client.change(foreign)
    let leads = false
    const acquiring = candidate(client, clock, { identity: 'me' })
      .acquire(never)
      .then(() => {
        leads = true
      })
    await clock.advance(18_500)
    client.change(foreign)
    await clock.advance(20_000)
    assert.equal(leads, false, 'the change at 18.5 s was first seen at 20 s')
    await clock.advance(2_000)
    await acquiring
    assert.equal(client.lease?.spec?.leaseTransitions, 8)
  })

  it('does not take over a deleted lease from a holder that may not know yet', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    client.change({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const elector = candidate(client, clock)
    const acquiring = elector.acquire(never)
    await clock.flushPromises()
    client.lease = undefined
    await clock.advance(14_000)
    assert.equal(elector.leadership.isHeld(), false)
    await clock.advance(2_000)
    await acquiring
    assert.equal(elector.leadership.isHeld(), true)
  })

  it('stops waiting when the signal is aborted', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    client.change({ holderIdentity: 'other', leaseDurationSeconds: 15 })
    const stop = new AbortController()
    const acquiring = candidate(client, clock).acquire(stop.signal)
    await clock.flushPromises()
    stop.abort(new Error('stopped'))
    await assert.rejects(acquiring, /stopped/)
    assert.equal(clock.pendingTimers, 0)
  })
})

describe('a leader', () => {
  it('loses leadership if it cannot renew within the renew deadline, counted from the last sent renewal', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const registry = createRegistry()
    const elector = candidate(client, clock, { registry })
    const leadership = await elector.acquire(never)
    assert.match(await registry.metrics(), /leader_election_master_status\{name="lock"\} 1\n/)
    await clock.advance(4_000)
    client.failing = true
    await clock.advance(9_999)
    assert.equal(leadership.isHeld(), true)
    assert.equal(leadership.signal.aborted, false)
    await clock.advance(1)
    assert.equal(leadership.isHeld(), false)
    assert.equal(leadership.signal.aborted, true)
    assert.throws(() => leadership.assertHeld(), LeadershipLost)
    assert.equal(
      (leadership.signal.reason as Error).message,
      'the lease was not renewed within 10000 ms; the last attempt failed: no route to host',
    )
    assert.match(await registry.metrics(), /leader_election_master_status\{name="lock"\} 0\n/)
    client.failing = false
    await clock.advance(60_000)
    assert.equal(leadership.isHeld(), false)
    assert.equal(clock.pendingTimers, 0)
  })

  it('keeps leadership while every response takes almost half of the renew deadline', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const slow: LeaseClient = {
      read: () => client.read(),
      create: lease => client.create(lease),
      update: async lease => {
        await clock.sleep(1_400)
        return client.update(lease)
      },
    }
    const times = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 1_000 }
    const elector = candidate(slow, clock, { times })
    await elector.acquire(never)
    for (let step = 0; step < 600; step++) {
      await clock.advance(100)
      assert.ok(elector.leadership.isHeld(), `after ${(step + 1) * 100} ms`)
    }
    const released = elector.release({ handOver: false })
    await clock.advance(2_000)
    await released
  })

  it('survives a failed renewal, and another client that touches the Lease', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const leadership = await candidate(client, clock).acquire(never)
    client.failing = true
    await clock.advance(7_000)
    client.failing = false
    client.change({})
    await clock.advance(30_000)
    assert.equal(leadership.isHeld(), true)
  })

  it('loses leadership as soon as it reads another holder', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const elector = candidate(client, clock)
    const leadership = await elector.acquire(never)
    client.change({ holderIdentity: 'thief' })
    await clock.advance(2_000)
    assert.equal(leadership.isHeld(), false)
    assert.match(String((leadership.signal.reason as Error).message), /is held by thief/)
    await elector.release({ handOver: true })
    assert.equal(client.lease?.spec?.holderIdentity, 'thief')
  })

  it('does not hold leadership while its machine may have been suspended, and holds it again after a renewal', async () => {
    const clock = new FakeClock()
    const client = new StoredLease()
    const leadership = await candidate(client, clock).acquire(never)
    clock.shiftWallClock(11_000)
    assert.equal(leadership.isHeld(), false)
    await clock.advance(2_000)
    assert.equal(leadership.isHeld(), true)
    assert.equal(leadership.signal.aborted, false)
  })

  it('does not hold leadership before the election and after the release', async () => {
    const clock = new FakeClock()
    const elector = candidate(new StoredLease(), clock)
    assert.throws(() => elector.leadership.assertHeld(), /never held/)
    await elector.acquire(never)
    elector.leadership.assertHeld()
    await elector.release({ handOver: true })
    assert.throws(() => elector.leadership.assertHeld(), /released/)
  })
})

describe('lease times', () => {
  it('may be fractions of seconds; the Lease contains the next whole second, so that no candidate is early', async () => {
    const client = new StoredLease()
    const times = { leaseDurationMs: 15_500, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }
    await candidate(client, new FakeClock(), { times }).acquire(never)
    assert.equal(client.lease?.spec?.leaseDurationSeconds, 16)
  })

  for (const [times, message] of [
    [
      { leaseDurationMs: 10_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
      /leaseDuration must be greater/,
    ],
    [
      { leaseDurationMs: 15_000, renewDeadlineMs: 2_000, retryPeriodMs: 2_000 },
      /renewDeadline must be greater/,
    ],
    [{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 0 }, /retryPeriod must be greater/],
  ] as const)
    it(`are rejected: ${message.source}`, () => {
      assert.throws(() => candidate(new StoredLease(), new FakeClock(), { times }), message)
    })
})

describe('leaseClient', () => {
  it('returns conflicts as values and other failures as errors', async () => {
    const failing = (code: 'Conflict' | 'AlreadyExists' | 'NotFound' | 'Internal') => {
      const fail = () => Promise.reject(new KubeError({ code, message: code }))
      return leaseClient({ find: fail, create: fail, update: fail }, { namespace: 'a', name: 'b' })
    }
    assert.equal(await failing('AlreadyExists').create({}, never), 'conflict')
    assert.equal(await failing('Conflict').update({}, never), 'conflict')
    assert.equal(await failing('NotFound').update({}, never), 'conflict')
    await assert.rejects(failing('Internal').update({}, never), /Internal/)
    await assert.rejects(failing('Internal').read(never), /Internal/)
  })
})
