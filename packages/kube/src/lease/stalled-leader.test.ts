// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { captureLog } from '../log/index.ts'
import { SimulatedProcess, SimulatedServer, Simulation } from '../testing/lease-simulation.ts'
import { LeaseElector } from './elector.ts'

const never = new AbortController().signal

describe('a leader without CPU time', () => {
  /** A leader on a machine that can be paused, and other candidates. */
  async function election(...names: string[]) {
    const simulation = new Simulation(1)
    const server = new SimulatedServer(simulation, 20)
    const members = names.map(name => {
      const process = new SimulatedProcess(name, simulation, { rate: 1, wallOffset: 0 })
      const { log, lines } = captureLog()
      const elector = new LeaseElector({
        namespace: 'system',
        name: 'lock',
        client: server.clientFor(process),
        clock: process,
        identity: name,
        random: () => 0,
        log,
      })
      return { process, lines, elector }
    })
    for (const { elector } of members) {
      elector.acquire(never).catch(() => {})
      await simulation.runUntil(simulation.now + 500, () => {})
    }
    const runFor = (ms: number) =>
      simulation.runUntil(simulation.now + ms, () => {
        assert.ok(members.filter(({ elector }) => elector.leadership.isHeld()).length <= 1)
      })
    return { members, runFor, first: members[0]! }
  }

  it('leads again after more than its renew deadline, if no other candidate took the lease', async () => {
    const { first, runFor } = await election('me')
    await runFor(3_000)
    first.process.pause()
    await runFor(25_000)
    first.process.resume()
    await runFor(0)
    assert.equal(first.elector.leadership.isHeld(), false, 'not before it has renewed')
    await runFor(4_000)
    assert.equal(first.elector.leadership.isHeld(), true)
    assert.equal(first.elector.leadership.signal.aborted, false)
    const reported = JSON.stringify(first.lines)
    assert.match(reported, /got no CPU time; it stops writing until the lease is renewed.*stalledMs/)
    assert.match(reported, /is the leader again/)
    await runFor(60_000)
    assert.equal(first.elector.leadership.isHeld(), true)
  })

  it('leads again in any state in which it was paused, also while it waits for a response', async () => {
    for (let time = 0; time < 2_100; time += 5) {
      const { first, runFor } = await election('me')
      await runFor(3_000 + time)
      first.process.pause()
      await runFor(10_400)
      first.process.resume()
      await runFor(4_000)
      assert.equal(first.elector.leadership.isHeld(), true, `stopped at ${time} ms`)
    }
  })

  it('loses leadership if another candidate took the lease', async () => {
    const { members, first, runFor } = await election('me', 'other')
    await runFor(3_000)
    first.process.pause()
    await runFor(25_000)
    assert.equal(members[1]!.elector.leadership.isHeld(), true)
    first.process.resume()
    await runFor(5_000)
    const { signal } = first.elector.leadership
    assert.match(String((signal.reason as Error | undefined)?.message), /is held by other/)
  })

  it('loses leadership if it still cannot renew, and reports both reasons', async () => {
    const { first, runFor } = await election('me')
    await runFor(3_000)
    first.process.cutOff = true
    first.process.pause()
    await runFor(12_000)
    first.process.resume()
    await runFor(4_000)
    assert.equal(first.elector.leadership.signal.aborted, false)
    await runFor(1_100)
    const { message } = first.elector.leadership.signal.reason as Error
    assert.match(message, /not renewed within 10000 ms; the process got no CPU time for \d+ ms/)
  })
})
