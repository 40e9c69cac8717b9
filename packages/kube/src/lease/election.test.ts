// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { SimulatedProcess, SimulatedServer, Simulation } from '../testing/lease-simulation.ts'
import { LeaseElector } from './elector.ts'

/** Requests arrive sooner than the margin between renewDeadline (10 s) and leaseDuration (15 s), including drift. */
const maxDelayMs = 4_000
const writeEveryMs = 300
const endMs = 240_000
/** From here on the network is fast and has no faults. */
const faultsEndAtMs = endMs - 60_000
const never = new AbortController().signal

type Fault =
  | { readonly kind: 'pause' | 'cut'; readonly process: number; readonly at: number; readonly forMs: number }
  | { readonly kind: 'setClock'; readonly process: number; readonly at: number; readonly byMs: number }
  | { readonly kind: 'kill' | 'stop'; readonly process: number; readonly at: number }

const processes = 3
const process = fc.nat(processes - 1)
const at = fc.integer({ min: 0, max: faultsEndAtMs })
const fault: fc.Arbitrary<Fault> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('pause', 'cut'), process, at, forMs: fc.nat(40_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('setClock'),
      process,
      at,
      byMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('kill', 'stop'), process, at }) },
)

interface Candidate {
  readonly process: SimulatedProcess
  elector: LeaseElector
  /** A stopped or killed process does not come back. */
  gone: boolean
}

class Election {
  readonly simulation: Simulation
  readonly server: SimulatedServer
  readonly candidates: Candidate[]
  /** Writes with their authors, in the order of the server. */
  readonly writes: { readonly by: LeaseElector; readonly at: number }[] = []
  terms = 0

  constructor(seed: number, rates: readonly number[]) {
    this.simulation = new Simulation(seed)
    this.server = new SimulatedServer(this.simulation, maxDelayMs)
    this.candidates = rates.map((rate, index) => {
      const simulated = new SimulatedProcess(`p${index}`, this.simulation, {
        rate,
        wallOffset: (this.simulation.random() - 0.5) * 86_400_000,
      })
      return { process: simulated, elector: this.#newElector(simulated), gone: false }
    })
    for (const candidate of this.candidates) void this.#live(candidate)
  }

  #newElector(simulated: SimulatedProcess): LeaseElector {
    return new LeaseElector({
      namespace: 'test',
      name: 'test',
      client: this.server.clientFor(simulated),
      clock: simulated,
      identity: `${simulated.name}_${Math.floor(this.simulation.random() * 2 ** 32)}`,
      random: this.simulation.random,
    })
  }

  /** The program of a process: lead, write while leading, start over as a new process after a loss. */
  async #live(candidate: Candidate): Promise<void> {
    while (!candidate.gone) {
      const { elector, process: simulated } = candidate
      try {
        await elector.acquire(never)
      } catch {
        return
      }
      this.terms++
      while (elector.leadership.isHeld()) {
        void this.server.send(simulated, () => this.writes.push({ by: elector, at: this.simulation.now }))
        await simulated.sleep(writeEveryMs)
      }
      await elector.release({ handOver: false })
      if (!candidate.gone) candidate.elector = this.#newElector(simulated)
    }
  }

  inject(fault: Fault): void {
    const candidate = this.candidates[fault.process]!
    const { process: simulated } = candidate
    const { simulation } = this
    simulation.at(fault.at, () => {
      if (fault.kind === 'pause') {
        simulated.pause()
        simulation.at(fault.at + fault.forMs, () => simulated.resume())
      } else if (fault.kind === 'cut') {
        simulated.cutOff = true
        simulation.at(fault.at + fault.forMs, () => {
          simulated.cutOff = false
        })
      } else if (fault.kind === 'setClock') simulated.setWallClock(fault.byMs)
      else {
        candidate.gone = true
        if (fault.kind === 'kill') simulated.kill()
        // An orderly stop: the process does not write any more once release is called.
        else simulated.deliver(() => void candidate.elector.release({ handOver: false }))
      }
    })
  }

  checkOneHolder(): void {
    const holders = this.candidates.filter(({ elector }) => elector.leadership.isHeld())
    assert.ok(
      holders.length <= 1,
      `${holders.map(holder => holder.process.name)} hold the lease at ${this.simulation.now} ms`,
    )
  }

  checkWrites(): void {
    const over = new Set<LeaseElector>()
    let current: LeaseElector | undefined
    for (const { by, at: when } of this.writes) {
      if (by === current) continue
      if (current) over.add(current)
      assert.ok(!over.has(by), `${by.leadership.identity} writes at ${when} ms, after its successor did`)
      current = by
    }
  }
}

describe('a leader election', () => {
  it('never has two leaders or two writers, under any pauses, network faults, kills and clock errors', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        // Clocks run up to 5 % fast or slow: a hundred times the error of a broken quartz.
        fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), {
          minLength: processes,
          maxLength: processes,
        }),
        fc.array(fault, { maxLength: 12 }),
        async (seed, rates, faults) => {
          const election = new Election(seed, rates)
          for (const one of faults) election.inject(one)
          election.simulation.at(faultsEndAtMs, () => {
            election.server.maxDelayMs = 20
          })
          await election.simulation.runUntil(endMs, () => election.checkOneHolder())
          election.checkWrites()
          const alive = election.candidates.some(({ gone }) => !gone)
          if (alive) assert.ok(election.terms > 0, 'no process ever led')
          // A minute after the last fault, a running process leads.
          if (
            alive &&
            faults.every(({ at: when, ...rest }) => when + ('forMs' in rest ? rest.forMs : 0) < faultsEndAtMs)
          )
            assert.ok(
              election.candidates.some(({ elector }) => elector.leadership.isHeld()),
              'no process leads although the faults are over',
            )
        },
      ),
      { numRuns: Number(globalThis.process.env.LEASE_SIMULATIONS ?? 60) },
    )
  })
})
