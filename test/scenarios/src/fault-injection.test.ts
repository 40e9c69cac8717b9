// SPDX-License-Identifier: Apache-2.0

// Fault injection on the embedded cluster. ROUNDS=100 runs more rounds; SEED repeats a failure.
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { type RunningOperator, startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Faults } from './fault-injection/faults.ts'
import { faultyTransport, Gate } from './fault-injection/faulty-transport.ts'
import { recoversWhilePaused } from './fault-injection/paused-operator.ts'
import { type FaultFixture, type OperatorUnderTest, round } from './fault-injection/round.ts'
import type { Below } from './fault-injection/runs.ts'
import { waiterImage } from './harness.ts'
import { seeded } from './seeded.ts'

const rounds = Number(process.env.ROUNDS ?? 4)
const seed = Number(process.env.SEED ?? 1)

/** An operator in this process. `kill` drops its work; `pause` holds back its requests and watches. */
class OperatorInProcess implements OperatorUnderTest {
  readonly faults: Faults
  readonly #cluster: EmbeddedCluster
  readonly #gate = new Gate()
  #running: RunningOperator | undefined

  constructor(cluster: EmbeddedCluster, faults: Faults) {
    this.#cluster = cluster
    this.faults = faults
  }

  async start(): Promise<void> {
    const transport = faultyTransport(
      inProcessTransport(this.#cluster.cluster.handle),
      this.faults,
      this.#gate,
    )
    this.#running = await startOperator(createClientOn(transport), {
      configuration: defaultConfiguration(),
      waiterImage,
    })
  }

  async kill(): Promise<void> {
    await this.#running?.abandon()
    this.#running = undefined
    await this.start()
  }

  async pause(ms: number): Promise<void> {
    this.#gate.close()
    await new Promise(resolve => setTimeout(resolve, ms))
    this.#gate.open()
  }

  async stop(): Promise<void> {
    await this.#running?.abandon()
  }
}

describe(`${rounds} rounds of faults (SEED=${seed})`, () => {
  let embedded: EmbeddedCluster
  let namespaces = 0

  before(async () => {
    embedded = await startEmbeddedCluster()
  })
  after(() => embedded?.stop())

  async function withOperator(
    seedOfRound: number,
    act: (fixture: FaultFixture, below: Below) => Promise<void>,
  ) {
    const below = seeded(seedOfRound)
    const operator = new OperatorInProcess(embedded, new Faults(below))
    await operator.start()
    try {
      const newNamespace = () => embedded.newNamespace(`faults-${namespaces++}`)
      await act({ client: embedded.client, operator, newNamespace }, below)
    } finally {
      await operator.stop()
    }
  }

  test('an operator that is paused past a termination deadline does not terminate a replica that has recovered', () =>
    withOperator(seed, recoversWhilePaused))

  for (let number = 0; number < rounds; number++)
    test(`SEED=${seed + number} ROUNDS=1`, () => withOperator(seed + number, round))
})
