// SPDX-License-Identifier: Apache-2.0

// Random sets and random actions on them. SEED repeats a run, RUN selects one of its sets, RUNS sets the number of
// sets.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import type { ControllerName } from '@grove/cluster'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness, type WriteCount } from './harness.ts'
import { type Action, act, actions } from './random-sets/actions.ts'
import { sizes } from './random-sets/expected.ts'
import { violations } from './random-sets/invariants.ts'
import { Model } from './random-sets/model.ts'
import { childKinds, observe } from './random-sets/observed.ts'
import { sets } from './random-sets/sets.ts'
import { SkippingClock } from './skipping-clock.ts'

const seed = Number(process.env.SEED ?? 1)
const runs = Number(process.env.RUNS ?? 24)
const only = process.env.RUN === undefined ? undefined : Number(process.env.RUN)

/** The actions choose the sizes. Autoscalers would move them into their bounds. */
const withoutAutoscaler: readonly ControllerName[] = [
  'scheduler',
  'kubelet',
  'heartbeats',
  'node-lifecycle',
  'garbage-collector',
  'namespaces',
  'service-accounts',
]

interface RandomRun {
  readonly set: PodCliqueSet
  /** The actions of a burst follow each other at once. The set converges after each burst. */
  readonly bursts: readonly (readonly Action[])[]
}

const randomRuns: fc.Arbitrary<RandomRun> = fc.record({
  set: sets,
  bursts: fc.array(fc.array(actions, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
})

describe(`random sets (SEED=${seed})`, { concurrency: 6 }, () => {
  fc.sample(randomRuns, { seed, numRuns: runs }).forEach((sample, run) => {
    if (only !== undefined && only !== run) return
    test(`RUN=${run}`, async () => {
      try {
        await execute(sample)
      } catch (error) {
        console.error(`SEED=${seed} RUN=${run}\n${stringify(sample)}`)
        throw error
      }
    })
  })
})

async function execute({ set, bursts }: RandomRun): Promise<void> {
  const clock = new SkippingClock()
  const embedded = await startEmbeddedCluster({ clock, controllers: () => ({ run: withoutAutoscaler }) })
  const writes: WriteCount[] = []
  const harness = new Harness({
    client: embedded.client,
    operatorClient: embedded.connect(writes),
    namespace: await embedded.newNamespace('gen'),
    writes,
    clock,
  })
  try {
    await harness.startOperator()
    const model = new Model(set.metadata.name)
    await harness.apply(stringify(set))
    await untilConverged(harness, model)
    for (const burst of bursts) {
      for (const action of burst) await act(harness, model, action)
      await untilConverged(harness, model)
    }
    await nothingIsWritten(harness, model)
    await harness.deleteSet(model.name)
    for (const resource of childKinds)
      await harness.until(
        `no ${resource.kind} left`,
        () => harness.list(resource, model.name),
        left => left.length === 0,
      )
  } finally {
    await harness.stopOperator()
    await embedded.stop()
  }
}

async function untilConverged(harness: Harness, model: Model): Promise<void> {
  await harness.until(
    'a converged set',
    async () => violations(await observe(harness, model.name), model),
    found => found.length === 0,
  )
  model.converged(sizes(await observe(harness, model.name)))
}

/** A converged set does not change, and another reconcile writes nothing. */
async function nothingIsWritten(harness: Harness, model: Model): Promise<void> {
  await harness.untilQuiet()
  assert.deepEqual(violations(await observe(harness, model.name), model), [])
  harness.writes.length = 0
  await harness.patchSet(model.name, { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } })
  await harness.untilQuiet()
  assert.deepEqual(harness.writes, [])
}
