// SPDX-License-Identifier: Apache-2.0

// The gang scheduler is killed after every kind of write, and works under failing requests, late watches and a foreign
// scheduler. No gang stays bound in part. KILLS=100 and FAULTS=100 run more seeds of each.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Clock, type Transport, TransportError } from '@grove/kube'
import { faulty, type Outcome } from './failing-writes.ts'
import { FaultyCluster, kindOf, type WriteKind, writeKinds } from './gang-binder-faults.ts'

const kills = Number(process.env.KILLS ?? 3)
const faults = Number(process.env.FAULTS ?? 3)
const firstSeed = Number(process.env.SEED ?? 1)
const recoverySeconds = 45

describe(`a gang scheduler under faults (SEED=${firstSeed})`, () => {
  for (const kind of writeKinds)
    test(`that is killed after a ${kind} leaves no gang bound in part (${kills} seeds)`, async () => {
      let killed = 0
      for (let seed = firstSeed; seed < firstSeed + kills; seed++) {
        const cluster = new FaultyCluster(seed, kind.startsWith('claim'))
        try {
          await cluster.prepare()
          if (kind === 'podStatus') await cluster.setCordons(true, ['node-0', 'node-1', 'node-2', 'node-3'])
          if (kind === 'release') {
            // A gang that is bound in part and does not fit is released.
            await killAt(cluster, 'binding', 1)
            await cluster.setCordons(true)
          }
          if (await killAt(cluster, kind, 1 + cluster.below(3))) killed++
          const heir = await cluster.start()
          await cluster.elapse(recoverySeconds)
          await cluster.setCordons(false)
          await cluster.elapse(recoverySeconds)
          await heir.stop()
          await cluster.assertWhole(`killed after ${kind}, seed ${seed}`)
        } finally {
          cluster.stop()
        }
      }
      assert.ok(killed > 0, `no scheduler sent a ${kind}`)
    })

  for (const devices of [false, true])
    test(`recovers from failed and lost writes, deleted pods, late watches and a foreign scheduler${devices ? ', with resource claims' : ''} (${faults} seeds)`, () =>
      recover(devices))

  async function recover(devices: boolean): Promise<void> {
    for (let seed = firstSeed; seed < firstSeed + faults; seed++) {
      const cluster = new FaultyCluster(seed, devices)
      try {
        await cluster.prepare()
        let isFaulty = true
        cluster.toleranceMs = 5_000
        const outcomes: readonly (Outcome | undefined)[] = [
          409,
          500,
          504,
          'lost',
          undefined,
          undefined,
          undefined,
        ]
        const scheduler = await cluster.start(inner =>
          late(
            faulty(inner, () => () => (isFaulty ? outcomes[cluster.below(outcomes.length)] : undefined), []),
            cluster.clock,
            () => (isFaulty ? cluster.below(300) : 0),
          ),
        )
        for (let step = 0; step < 6; step++) {
          await cluster.elapse(1 + cluster.below(5))
          const pods = await cluster.pods()
          if (cluster.below(2) === 0 && pods.length)
            await cluster.deletePod(pods[cluster.below(pods.length)]!)
          if (step === 2) await cluster.takeNode()
        }
        isFaulty = false
        await cluster.elapse(2 * recoverySeconds)
        await scheduler.stop()
        await cluster.assertWhole(`faults, seed ${seed}`)
      } finally {
        cluster.stop()
      }
    }
  }
})

/** Runs a scheduler until its nth write of a kind, which arrives or not. Returns false if it has not sent so many. */
async function killAt(cluster: FaultyCluster, kind: WriteKind, nth: number): Promise<boolean> {
  const arrives = cluster.below(2) === 0
  let left = nth
  let isDead = false
  const watches = new AbortController()
  const dead = () => new TransportError('network', true, 'the process is dead')
  const scheduler = await cluster.start(inner => ({
    ...inner,
    close: () => inner.close(),
    stream: request =>
      inner.stream({
        ...request,
        signal: request.signal ? AbortSignal.any([request.signal, watches.signal]) : watches.signal,
      }),
    request: async request => {
      if (isDead) throw dead()
      if (kindOf(request) !== kind || --left > 0) return inner.request(request)
      isDead = true
      if (arrives) await inner.request(request)
      throw dead()
    },
  }))
  for (let second = 0; second < 5 && !isDead; second++) await cluster.elapse(1)
  const ended = scheduler.abandon()
  watches.abort()
  await cluster.clock.skip(10_000)
  await ended
  return isDead
}

/**
 * A transport whose watches deliver later, by the clock of the cluster. In real time the lateness of many events
 * would add up to minutes of that clock, which advances a second within milliseconds.
 */
function late(inner: Transport, clock: Clock, delayMs: () => number): Transport {
  return {
    ...inner,
    request: request => inner.request(request),
    close: () => inner.close(),
    stream: async request => {
      const { body, ...stream } = await inner.stream(request)
      return { ...stream, body: delayed(body, clock, delayMs) }
    },
  }
}

/** Every chunk has its own delay from its arrival on, and chunks keep their order. */
async function* delayed<Chunk>(body: AsyncIterable<Chunk>, clock: Clock, delayMs: () => number) {
  const chunks: Promise<Chunk | undefined>[] = []
  let resume = () => {}
  const read = async () => {
    for await (const chunk of body) {
      chunks.push(clock.sleep(delayMs()).then(() => chunk))
      resume()
    }
  }
  const end = read().then(() => undefined)
  // The consumer gets the error of the stream after the chunks before it.
  void end
    .catch(() => {})
    .finally(() => {
      chunks.push(end)
      resume()
    })
  for (;;) {
    const next = chunks.shift()
    if (next === undefined) {
      await new Promise<void>(resolve => {
        resume = resolve
      })
      continue
    }
    const chunk = await next
    if (chunk === undefined) return
    yield chunk
  }
}
