// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ControllerRevision,
  formerGenerationHash,
  generationHash,
  label,
  podTemplateHash,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import fc from 'fast-check'
import type { StoredSet } from '../layout/stored.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { type HashesInUse, numberOf, planHistory, recordOf, templateKey } from './history.ts'

function set(version: number, replicas = 1): StoredSet {
  const of = sampleSet({ cliques: [clique('a', { replicas }), clique('b')] })
  of.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = `registry.example/main:${version}`
  return of
}

const nothing: HashesInUse = { generations: new Set(), templates: new Set() }

interface Options {
  readonly limit?: number
  readonly inUse?: HashesInUse
}

const plan = (
  of: StoredSet,
  recorded: readonly Stored<ControllerRevision>[],
  { limit = 10, inUse = nothing }: Options = {},
) => planHistory({ set: of, recorded, limit, inUse: () => inUse })

/** The same record under another hash of its generation. */
function named(one: Stored<ControllerRevision>, hash: string): Stored<ControllerRevision> {
  const labels = { ...one.metadata.labels, [label.generationHash]: hash }
  return { ...one, metadata: { ...one.metadata, labels } }
}

/** A record of a release before z2. */
function formerly(one: Stored<ControllerRevision>): Stored<ControllerRevision> {
  const hash = formerGenerationHash(recordOf(one)!)
  const renamed = named(one, hash)
  return { ...renamed, metadata: { ...renamed.metadata, name: `w-${hash}` } }
}

/** Returns the recorded revisions after the plan was executed. */
function executed(
  of: StoredSet,
  recorded: readonly Stored<ControllerRevision>[],
  options: Options = {},
): Stored<ControllerRevision>[] {
  const { create, raise, relabel, remove } = plan(of, recorded, options)
  return [
    ...recorded
      .filter(one => !remove.includes(one))
      .map(one => ({
        ...one,
        ...(one === raise?.object && { revision: raise.revision }),
        ...(one === relabel?.object && { metadata: named(one, relabel.generationHash).metadata }),
      })),
    ...(create ? [structuredClone(create) as Stored<ControllerRevision>] : []),
  ]
}

function after(versions: readonly number[], options: Options = {}): Stored<ControllerRevision>[] {
  return versions.reduce<Stored<ControllerRevision>[]>(
    (recorded, version) => executed(set(version), recorded, options),
    [],
  )
}

const images = (recorded: readonly ControllerRevision[]) =>
  [...recorded]
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map(one => recordOf(one)!.template.cliques[0]!.spec.podSpec.containers[0]!.image!.split(':')[1])

test('the first template is recorded as revision 1, owned by the set, under the hash of its status', () => {
  const { create } = plan(set(1), [])
  assert.equal(create?.revision, 1)
  assert.equal(create?.metadata.name, `w-${generationHash(set(1).spec)}`)
  assert.equal(create?.metadata.labels?.[label.generationHash], generationHash(set(1).spec))
  assert.equal(create?.metadata.ownerReferences?.[0]?.uid, 'set-uid')
})

test('the same template with other counts or in another order is not recorded again', () => {
  const recorded = after([1])
  const reordered = set(1, 7)
  reordered.spec.template.cliques.reverse()
  for (const edited of [set(1), set(1, 7), reordered])
    assert.deepEqual(plan(edited, recorded), {
      create: undefined,
      raise: undefined,
      relabel: undefined,
      remove: [],
    })
})

test('a rollback raises the old revision instead of adding one', () => {
  const recorded = after([1, 2, 3, 1])
  assert.deepEqual(images(recorded), ['2', '3', '1'])
  assert.equal(Math.max(...recorded.map(numberOf)), 4)
})

test('deletes the oldest revision beyond the limit', () => {
  assert.deepEqual(images(after([1, 2, 3, 4, 5], { limit: 3 })), ['3', '4', '5'])
  assert.deepEqual(images(after([1, 2], { limit: 0 })), ['2'])
})

test('keeps a revision that a child has reached, or that an existing pod was created from, whatever its age', () => {
  const old = set(1).spec
  const generations: HashesInUse = { ...nothing, generations: new Set([generationHash(old)]) }
  assert.deepEqual(images(after([1, 2, 3, 4], { limit: 2, inUse: generations })), ['1', '4'])
  const pod = templateKey('a', podTemplateHash(old.template, old.template.cliques[0]!))
  const pods: HashesInUse = { ...nothing, templates: new Set([pod]) }
  assert.deepEqual(images(after([1, 2, 3, 4], { limit: 2, inUse: pods })), ['1', '4'])
})

test('does not confuse the revision with other content of the same name', () => {
  const [taken] = after([2])
  const name = `w-${generationHash(set(1).spec)}`
  const holder = { ...taken!, metadata: { ...taken!.metadata, name } }
  assert.equal(plan(set(1), [holder]).create?.metadata.name, `${name}-1`)
})

test('compares revisions by content, not by the algorithm of their names', () => {
  const [mine] = after([1])
  const labels = { ...mine!.metadata.labels, [label.generationHash]: 'z0-0123456789abcdef01234567' }
  const older = { ...mine!, metadata: { ...mine!.metadata, name: 'w-z0-0123', labels } }
  assert.deepEqual(plan(set(1), [older]), {
    create: undefined,
    raise: undefined,
    relabel: { object: older, generationHash: generationHash(set(1).spec) },
    remove: [],
  })
})

test('ignores a record with foreign content, which does not count as a revision', () => {
  const [mine] = after([1])
  const broken = { ...mine!, metadata: { ...mine!.metadata, name: 'broken' }, revision: 9, data: {} }
  assert.equal(plan(set(1), [broken as Stored<ControllerRevision>]).create?.revision, 10)
})

test('after any sequence of templates the wanted one is recorded once, as the newest, and nothing is left to write', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 6 }),
      (versions, limit) => {
        const recorded = after(versions, { limit })
        const last = set(versions.at(-1)!)
        assert.equal(images(recorded).at(-1), String(versions.at(-1)))
        assert.equal(new Set(images(recorded)).size, recorded.length)
        assert.equal(new Set(recorded.map(numberOf)).size, recorded.length)
        assert.ok(recorded.length <= Math.max(1, limit))
        assert.deepEqual(plan(last, recorded, { limit }), {
          create: undefined,
          raise: undefined,
          relabel: undefined,
          remove: [],
        })
      },
    ),
  )
})

test('recognizes the record of an earlier release under its new name, and records nothing again', () => {
  const recorded = after([1, 2]).map(formerly)
  const { create, raise, relabel, remove } = plan(set(2), recorded)
  assert.deepEqual({ create, raise, remove }, { create: undefined, raise: undefined, remove: [] })
  assert.deepEqual(relabel, { object: recorded[1], generationHash: generationHash(set(2).spec) })
  const then = executed(set(2), recorded)
  assert.deepEqual(plan(set(2), then), {
    create: undefined,
    raise: undefined,
    relabel: undefined,
    remove: [],
  })
})

test('a rollback to a revision that an earlier release recorded raises and renames its record', () => {
  const recorded = after([1, 2]).map(formerly)
  const { create, raise, relabel } = plan(set(1), recorded)
  assert.equal(create, undefined)
  assert.equal(raise?.object, recorded[0])
  assert.deepEqual(relabel, { object: recorded[0], generationHash: generationHash(set(1).spec) })
})

test('keeps a revision that children have reached, under either of its names', () => {
  const former = formerGenerationHash(set(1).spec)
  const names = [former, generationHash(set(1).spec)]
  for (const recorded of [after([1, 2, 3]), after([1, 2, 3]).map(formerly)])
    for (const name of names) {
      const inUse = { generations: new Set([name]), templates: new Set<string>() }
      assert.deepEqual(images(executed(set(4), recorded, { limit: 2, inUse })), ['1', '4'])
    }
})
