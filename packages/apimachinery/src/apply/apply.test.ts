// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { equalJson, isJsonObject, type JsonObject } from '../json-value.ts'
import {
  applyConfiguration,
  compare,
  encodeFieldsV1,
  fields,
  isEmptySet,
  type ManagedFieldsEntry,
  managedByMain,
  merge,
  type OwnedKind,
  removeItems,
  toFieldSet,
  trackUpdate,
  withoutTimeOnlyChanges,
} from './index.ts'
import { fieldTypeOfSchema } from './schema-field-type.ts'
import { extractItems } from './testing/extract-items.ts'
import { Chance, metadata, widgetSpec } from './testing/random-configuration.ts'
import { widgetSchema } from './testing/served-kinds.ts'

const type = fieldTypeOfSchema(widgetSchema)
const names = { apiVersion: 'apply.test/v1', kind: 'Widget' }
const widget: OwnedKind = { ...names, type, empty: names, filter: managedByMain, subresource: '' }
const time = '2026-01-01T00:00:00Z'
const later = '2026-01-01T00:00:10Z'

/** A random object without null, because null means absent. */
const object = fc.nat(2 ** 31).map((seed): JsonObject => {
  const chance = new Chance(seed)
  const { limit: _, ...spec } = widgetSpec(chance)
  return { ...names, metadata: { name: 'a', ...metadata(chance) }, spec }
})

/** Empty keyed lists and sets are not visible in a field set. */
function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyLists)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([, inner]) => !Array.isArray(inner) || inner.length > 0)
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutEmptyLists(inner)]))
}

function apply(
  live: JsonObject | undefined,
  configuration: JsonObject,
  manager: string,
  force = false,
  at = time,
) {
  return applyConfiguration({ kind: widget, live, configuration, manager, force, time: at })
}

function applied(
  live: JsonObject | undefined,
  configuration: JsonObject,
  manager: string,
  force = false,
  at = time,
) {
  const outcome = apply(live, configuration, manager, force, at)
  assert.equal(outcome.outcome, 'applied')
  return (outcome as { object: JsonObject }).object
}

function ownersOf({ metadata }: JsonObject): ManagedFieldsEntry[] {
  return ((metadata as JsonObject).managedFields ?? []) as ManagedFieldsEntry[]
}

describe('values and their field sets', () => {
  test('an object merged with a part of itself is unchanged', () => {
    fc.assert(
      fc.property(object, object, (value, other) => {
        const part = extractItems(value, toFieldSet(other, type), type) ?? {}
        assert.ok(equalJson(merge(value, part, type), value))
        assert.equal(merge(value, value, type), value)
      }),
    )
  })
  test('extracting all fields of an object gives the object', () => {
    fc.assert(
      fc.property(object, value => {
        const full = withoutEmptyLists(value)
        assert.deepEqual(extractItems(full, toFieldSet(full, type), type), full)
      }),
    )
  })
  test('the field set of a merge is the union', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const merged = merge(a, b, type)
        const { removed } = compare(a, merged, type)
        // Free-form values may change their shape, which removes their old parts.
        assert.doesNotMatch(JSON.stringify(encodeFieldsV1(removed)), /[kv]:/)
        const again = merge(merged, b, type)
        assert.ok(equalJson(again, merged))
      }),
    )
  })
  test('comparing in the other direction exchanges added and removed', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const there = compare(a, b, type)
        const back = compare(b, a, type)
        assert.deepEqual(encodeFieldsV1(there.added), encodeFieldsV1(back.removed))
        assert.deepEqual(encodeFieldsV1(there.modified), encodeFieldsV1(back.modified))
      }),
    )
  })
  test('removed items are gone, and other items stay', () => {
    const value = { spec: { env: [{ name: 'a', value: '1' }, { name: 'b' }], tags: ['x', 'y'], size: 1 } }
    const set = toFieldSet({ spec: { env: [{ name: 'a' }], tags: ['y'], size: 2 } }, type)
    assert.deepEqual(removeItems(value, set, type), { spec: { env: [{ name: 'b' }], tags: ['x'] } })
  })
  test('no function throws, whatever the value is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        merge(a, b, type)
        compare(a, b, type)
        removeItems(a, toFieldSet(b, type), type)
        extractItems(a, toFieldSet(b, type), type)
        const live = { ...names, metadata: a, spec: b } as JsonObject
        const configuration = { ...names, metadata: { name: 'a' }, spec: a } as JsonObject
        apply(live, configuration, 'one')
        apply({ ...names, metadata: { managedFields: a } } as JsonObject, configuration, 'one')
        trackUpdate({ kind: widget, live, object: configuration, manager: 'one', time })
      }),
    )
  })
})

describe('applying', () => {
  test('twice has the same result as once', () => {
    fc.assert(
      fc.property(object, object, (live, configuration) => {
        const first = applied(applied(undefined, live, 'one'), configuration, 'two', true)
        const second = applied(first, configuration, 'two', false, later)
        assert.deepEqual(second, first)
      }),
    )
  })
  test('with force sets the applied values', () => {
    fc.assert(
      fc.property(object, object, (live, configuration) => {
        const result = applied(applied(undefined, live, 'one'), configuration, 'two', true)
        const { removed, modified } = compare(configuration, result, type)
        assert.ok(isEmptySet(modified))
        assert.doesNotMatch(JSON.stringify(encodeFieldsV1(removed)), /[kv]:/)
      }),
    )
  })
  test('an empty configuration removes the fields that only the applier owned', () => {
    fc.assert(
      fc.property(object, configuration => {
        const live = applied(undefined, configuration, 'one')
        const { spec: _, ...bare } = configuration
        const after = applied(live, { ...bare, metadata: { name: 'a' } }, 'one')
        assert.ok(ownersOf(after).every(entry => entry.manager !== 'one'))
      }),
    )
  })
  test('shares ownership of equal values without conflict', () => {
    const spec = { size: 1 }
    const both = applied(
      applied(undefined, { ...names, spec }, 'one'),
      { ...names, spec },
      'two',
      false,
      later,
    )
    assert.deepEqual(
      ownersOf(both).map(({ manager, time: since }) => [manager, since]),
      [
        ['two', undefined],
        ['one', time],
      ],
    )
  })
  test('does not change its inputs', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const live = applied(undefined, a, 'one')
        const before = JSON.stringify([live, b])
        apply(live, b, 'two', true)
        trackUpdate({ kind: widget, live, object: b, manager: 'three', time })
        assert.equal(JSON.stringify([live, b]), before)
      }),
    )
  })
})

describe('conflicts', () => {
  const live = applied(
    applied(
      undefined,
      { ...names, spec: { size: 1, tags: ['x'], env: [{ name: 'a', value: '1' }], unit: { a: '1' } } },
      'one',
    ),
    { ...names, spec: { title: 'a' } },
    'kubectl-client-side-apply',
  )
  const cases: [spec: JsonObject, fields: string[]][] = [
    [{ size: 1 }, []],
    [{ size: 2 }, ['.spec.size']],
    [{ tags: ['y'] }, []],
    [{ env: [{ name: 'a', value: '1' }] }, []],
    [{ env: [{ name: 'a', value: '2' }] }, ['.spec.env[name="a"].value']],
    [{ env: [{ name: 'a', tags: ['x'] }, { name: 'b' }] }, []],
    [{ unit: { b: '1' } }, ['.spec.unit']],
    [{ title: 'b', size: 2 }, ['.spec.title', '.spec.size']],
  ]
  for (const [spec, expected] of cases)
    test(`${JSON.stringify(spec)}: ${expected.join(', ') || 'none'}`, () => {
      const outcome = apply(live, { ...names, spec }, 'two')
      const causes = outcome.outcome === 'conflict' ? outcome.causes.map(cause => cause.field) : []
      assert.deepEqual(causes, expected)
    })
  test('name the managers that own the fields', () => {
    const patched = trackUpdate({
      kind: { ...widget, apiVersion: 'apps/v1' },
      live: undefined,
      object: { ...names, metadata: { name: 'a' }, spec: { size: 1 } },
      manager: 'kubectl-client-side-apply',
      time,
    })
    const object = { ...names, metadata: { name: 'a', managedFields: patched }, spec: { size: 1 } }
    assert.deepEqual(apply(object, { ...names, spec: { size: 2 } }, 'two'), {
      outcome: 'conflict',
      message:
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.size',
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-client-side-apply" using apps/v1',
          field: '.spec.size',
        },
      ],
    })
  })
})

describe('updates', () => {
  test('own the fields that they change, except those that only the server sets', () => {
    const object = {
      ...names,
      metadata: { name: 'a', uid: 'u', generation: 1, labels: { a: 'b' } },
      spec: { size: 1 },
    }
    const [entry] = trackUpdate({
      kind: widget,
      live: undefined,
      object,
      manager: '',
      time: '2026-01-01T00:00:00.123Z',
    })!
    assert.equal(entry?.manager, 'unknown')
    assert.equal(entry?.time, time)
    assert.deepEqual(
      entry?.fieldsV1,
      encodeFieldsV1(fields('metadata.labels', 'metadata.labels.a', 'spec', 'spec.size')),
    )
  })
  test('do not add managedFields to an object without them', () => {
    const live = { ...names, metadata: { name: 'a', uid: 'u' } }
    assert.equal(
      trackUpdate({ kind: widget, live, object: { ...live, spec: { size: 1 } }, manager: 'one', time }),
      undefined,
    )
  })
  test('that only change times count as unchanged', () => {
    const live = applied(undefined, { ...names, spec: { size: 1 } }, 'one')
    const touched = structuredClone(live)
    Object.assign(ownersOf(touched)[0]!, { time: later })
    assert.deepEqual(withoutTimeOnlyChanges(touched, live), live)
    const changed = { ...touched, spec: { size: 2 } }
    assert.deepEqual(withoutTimeOnlyChanges(changed, live), changed)
  })
})
