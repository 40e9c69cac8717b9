// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObjectMeta } from '../../kubernetes/index.ts'
import type { PodCliqueSet } from '../../types/index.ts'
import { changeRefusals, clique, judgeChange, sampleSet } from '../sample-sets.ts'

/** Stored under other rules: its scheduler is gone, and so is the name of its topology. */
const stale = sampleSet({
  cliques: [
    clique(
      'web',
      { podSpec: { containers: [{ name: 'c', image: 'i' }], schedulerName: 'gone' } },
      { topologyConstraint: { packDomain: 'rack' } },
    ),
  ],
})

function withMetadata(set: PodCliqueSet, metadata: Partial<ObjectMeta>): PodCliqueSet {
  return { ...set, metadata: { ...set.metadata, ...metadata } }
}

describe('a set that became invalid in the meantime', () => {
  test('still lets go of its finalizer', () => {
    const old = withMetadata(stale, { finalizers: ['grove.io/podcliqueset.grove.io'] })
    assert.deepEqual(judgeChange(stale, old), { errors: [], warnings: [] })
  })

  test('can still be labelled and annotated', () => {
    assert.deepEqual(
      changeRefusals(withMetadata(stale, { labels: { a: 'b' }, annotations: { c: 'd' } }), stale),
      [],
    )
  })

  test('can be changed in every way while it is being deleted', () => {
    const now = withMetadata(
      { ...stale, spec: { ...stale.spec, replicas: 9 } },
      { deletionTimestamp: '2030-01-01T00:00:00Z' },
    )
    assert.deepEqual(changeRefusals(now, stale), [])
  })

  test('is judged as soon as its specification changes', () => {
    assert.notDeepEqual(changeRefusals({ ...stale, spec: { ...stale.spec, replicas: 9 } }, stale), [])
  })

  test('is judged when metadata change that a rule looks at', () => {
    const key = 'grove.io/mnnvl-group'
    assert.notDeepEqual(changeRefusals(withMetadata(stale, { annotations: { [key]: 'a' } }), stale), [])
    assert.notDeepEqual(
      changeRefusals(withMetadata(stale, { labels: { 'kai.scheduler/queue': 'a' } }), stale),
      [],
    )
  })
})

describe('a set some of whose cliques name a scheduler, and another is the default by now', () => {
  const containers = [{ name: 'c', image: 'i' }]
  const named = (schedulerName: string | undefined, image = 'i') =>
    clique('named', {
      podSpec: { containers: [{ name: 'c', image }], ...(schedulerName && { schedulerName }) },
    })
  const nameless = clique('nameless', { podSpec: { containers } })
  const mixed = sampleSet({ cliques: [nameless, named('default-scheduler')] })
  const settings = { schedulers: ['kai-scheduler'] }

  test('can be changed in what has nothing to do with schedulers', () => {
    for (const cliques of [
      [nameless, named('default-scheduler', 'j')],
      [named('default-scheduler', 'j'), nameless],
    ])
      assert.deepEqual(changeRefusals(sampleSet({ cliques }), mixed, settings), [])
  })

  test('is refused where its scheduler is not enabled any more', () => {
    const gone = sampleSet({ cliques: [nameless, named('gone')] })
    const refusals = changeRefusals(sampleSet({ cliques: [nameless, named('gone', 'j')] }), gone, settings)
    assert.match(refusals.join(), /"gone": schedulerName must be an enabled scheduler backend/)
    assert.doesNotMatch(refusals.join(), /have to be the same/)
  })

  test('cannot come to two schedulers', () => {
    for (const name of ['kai-scheduler', undefined])
      assert.notDeepEqual(
        changeRefusals(sampleSet({ cliques: [nameless, named(name, 'j')] }), mixed, settings),
        [],
      )
    assert.match(
      changeRefusals(
        sampleSet({
          cliques: [
            clique('nameless', { podSpec: { containers, schedulerName: 'kai-scheduler' } }),
            named('default-scheduler'),
          ],
        }),
        mixed,
        settings,
      ).join(),
      /have to be the same/,
    )
  })
})

test('defaults that a newer release fills in are no change', () => {
  const { terminationDelay: _absent, ...template } = stale.spec.template
  const old = { ...stale, spec: { ...stale.spec, template } }
  assert.deepEqual(changeRefusals(stale, old), [])
})
