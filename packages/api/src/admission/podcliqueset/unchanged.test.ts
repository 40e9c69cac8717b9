// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObjectMeta } from '../../kubernetes/index.ts'
import { clique, sampleSet, updateErrorsOf, validateUpdate } from '../../testing/sample-sets.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** Stored under other rules: its scheduler and its topology name do not exist any more. */
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

describe('a stored set that has become invalid', () => {
  test('can lose its finalizer', () => {
    const old = withMetadata(stale, { finalizers: ['grove.io/podcliqueset.grove.io'] })
    assert.deepEqual(updateErrorsOf(stale, old), [])
  })

  test('gets the warnings of its spec with every update, but not while it is being deleted', () => {
    const now = withMetadata(stale, { labels: { a: 'b' } })
    const field = 'spec.template.cliques[0].topologyConstraint'
    const deprecated = `${field}.packDomain is deprecated; use ${field}.pack.required instead`
    assert.deepEqual(validateUpdate(now, stale).warnings, [deprecated])

    const podSpec = { containers: [{ name: 'c' }], restartPolicy: 'Never' as const }
    const never = sampleSet({ cliques: [clique('web', { podSpec })] })
    assert.deepEqual(validateUpdate(withMetadata(never, { labels: { a: 'b' } }), never).warnings, [
      'restartPolicy will be ignored, it will be set to Always',
    ])

    const terminating = withMetadata(now, { deletionTimestamp: '2030-01-01T00:00:00Z' })
    assert.deepEqual(validateUpdate(terminating, stale), { errors: [], warnings: [] })
  })

  test('can be labelled and annotated', () => {
    assert.deepEqual(
      updateErrorsOf(withMetadata(stale, { labels: { a: 'b' }, annotations: { c: 'd' } }), stale),
      [],
    )
  })

  test('can be changed in every way while it is being deleted', () => {
    const now = withMetadata(
      { ...stale, spec: { ...stale.spec, replicas: 9 } },
      { deletionTimestamp: '2030-01-01T00:00:00Z' },
    )
    assert.deepEqual(updateErrorsOf(now, stale), [])
  })

  test('is validated when its spec changes', () => {
    assert.notDeepEqual(updateErrorsOf({ ...stale, spec: { ...stale.spec, replicas: 9 } }, stale), [])
  })

  test('is validated when metadata changes that a rule reads', () => {
    const key = 'grove.io/mnnvl-group'
    assert.notDeepEqual(updateErrorsOf(withMetadata(stale, { annotations: { [key]: 'a' } }), stale), [])
    assert.notDeepEqual(
      updateErrorsOf(withMetadata(stale, { labels: { 'kai.scheduler/queue': 'a' } }), stale),
      [],
    )
  })
})

describe('a set whose cliques partly name a scheduler, after the default scheduler has changed', () => {
  const containers = [{ name: 'c', image: 'i' }]
  const named = (schedulerName: string | undefined, image = 'i') =>
    clique('named', {
      podSpec: { containers: [{ name: 'c', image }], ...(schedulerName && { schedulerName }) },
    })
  const nameless = clique('nameless', { podSpec: { containers } })
  const mixed = sampleSet({ cliques: [nameless, named('default-scheduler')] })
  const settings = { schedulers: ['kai-scheduler'] }

  test('can change fields that do not concern schedulers', () => {
    for (const cliques of [
      [nameless, named('default-scheduler', 'j')],
      [named('default-scheduler', 'j'), nameless],
    ])
      assert.deepEqual(updateErrorsOf(sampleSet({ cliques }), mixed, settings), [])
  })

  test('is rejected if its scheduler is no longer enabled', () => {
    const gone = sampleSet({ cliques: [nameless, named('gone')] })
    const errors = updateErrorsOf(sampleSet({ cliques: [nameless, named('gone', 'j')] }), gone, settings)
    assert.match(errors.join(), /"gone": schedulerName must be an enabled scheduler backend/)
    assert.doesNotMatch(errors.join(), /have to be the same/)
  })

  test('cannot get two schedulers', () => {
    for (const name of ['kai-scheduler', undefined])
      assert.notDeepEqual(
        updateErrorsOf(sampleSet({ cliques: [nameless, named(name, 'j')] }), mixed, settings),
        [],
      )
    assert.match(
      updateErrorsOf(
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

test('defaults that a newer release sets are not a change', () => {
  const { terminationDelay: _absent, ...template } = stale.spec.template
  const old = { ...stale, spec: { ...stale.spec, template } }
  assert.deepEqual(updateErrorsOf(stale, old), [])
})
