// SPDX-License-Identifier: Apache-2.0

// Sets that nobody thought of, and whatever may happen to them. SEED repeats a run, RUN picks one set of it, RUNS asks
// for more of them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import type { ControllerName } from '@grove/cluster'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { startEmbeddedCluster } from './embedded-cluster.ts'
import { type Action, act, actions } from './generated/actions.ts'
import { sizes } from './generated/expected.ts'
import { violations } from './generated/invariants.ts'
import { Model } from './generated/model.ts'
import { childKinds, observe } from './generated/observed.ts'
import { sets } from './generated/sets.ts'
import { Stage, type WriteCount } from './stage.ts'

const seed = Number(process.env.SEED ?? 1)
const runs = Number(process.env.RUNS ?? 24)
const only = process.env.RUN === undefined ? undefined : Number(process.env.RUN)

/** Sizes are for the actions to choose: autoscalers would push them into their bounds. */
const withoutAutoscaler: readonly ControllerName[] = [
  'scheduler',
  'kubelet',
  'heartbeats',
  'node-lifecycle',
  'garbage-collector',
  'namespaces',
  'service-accounts',
]

interface Life {
  readonly set: PodCliqueSet
  /** Each is done at one go; then the set may settle. */
  readonly bursts: readonly (readonly Action[])[]
}

const lives: fc.Arbitrary<Life> = fc.record({
  set: sets,
  bursts: fc.array(fc.array(actions, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
})

describe(`generated sets (SEED=${seed})`, { concurrency: 6 }, () => {
  fc.sample(lives, { seed, numRuns: runs }).forEach((life, run) => {
    if (only !== undefined && only !== run) return
    test(`RUN=${run}`, async () => {
      try {
        await live(life)
      } catch (error) {
        console.error(`SEED=${seed} RUN=${run}\n${stringify(life)}`)
        throw error
      }
    })
  })
})

async function live({ set, bursts }: Life): Promise<void> {
  const embedded = await startEmbeddedCluster({ controllers: () => ({ run: withoutAutoscaler }) })
  const writes: WriteCount[] = []
  const stage = new Stage({
    client: embedded.client,
    operatorClient: embedded.connect(writes),
    namespace: await embedded.newNamespace('gen'),
    writes,
  })
  try {
    await stage.startOperator()
    const model = new Model(set.metadata.name)
    await stage.apply(stringify(set))
    await untilSettled(stage, model)
    for (const burst of bursts) {
      for (const action of burst) await act(stage, model, action)
      await untilSettled(stage, model)
    }
    await nothingIsWritten(stage, model)
    await stage.deleteSet(model.name)
    for (const resource of childKinds)
      await stage.until(
        `no ${resource.kind} left`,
        () => stage.list(resource, model.name),
        left => left.length === 0,
      )
  } finally {
    await stage.stopOperator()
    await embedded.stop()
  }
}

async function untilSettled(stage: Stage, model: Model): Promise<void> {
  await stage.until(
    'a settled set',
    async () => violations(await observe(stage, model.name), model),
    found => found.length === 0,
  )
  model.settle(sizes(await observe(stage, model.name)))
}

/** A settled set stays as it is, and looking at it again costs nothing. */
async function nothingIsWritten(stage: Stage, model: Model): Promise<void> {
  await stage.untilQuiet()
  assert.deepEqual(violations(await observe(stage, model.name), model), [])
  stage.writes.length = 0
  await stage.patchSet(model.name, { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } })
  await stage.untilQuiet()
  assert.deepEqual(stage.writes, [])
}
