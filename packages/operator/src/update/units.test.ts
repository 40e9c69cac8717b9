// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { planUnitUpdate, retryInMs, type Unit, type UnitUpdateInput, type UnitUpdatePlan } from './units.ts'

/**
 * One letter per index: `o` outdated and serving, `p` outdated and not serving, `n` new and serving, `s` new and not
 * serving, ` ` none.
 */
function unitsOf(letters: string): Unit[] {
  return [...letters].flatMap((letter, index) =>
    letter === ' '
      ? []
      : [
          {
            id: `u${index}`,
            index,
            outdated: letter === 'o' || letter === 'p',
            serving: letter === 'o' || letter === 'n',
            createdAt: 0,
          },
        ],
  )
}

function plan(letters: string, given: Partial<UnitUpdateInput<Unit>> = {}): UnitUpdatePlan<Unit> {
  return planUnitUpdate({
    replicas: letters.length,
    minAvailable: 1,
    units: unitsOf(letters),
    selection: undefined,
    paused: false,
    stableInMs: 0,
    ...given,
  })
}

/** A short form of the plan. */
function planned(letters: string, given: Partial<UnitUpdateInput<Unit>> = {}): string {
  const next = plan(letters, given)
  switch (next.kind) {
    case 'finished':
      return 'finished'
    case 'replace':
      return `replace ${next.unit.id}`
    case 'discard':
      return `discard ${next.units.map(({ id }) => id)}`
    case 'wait':
      return next.reason === 'not-back' ? `wait for ${next.index}` : `wait: ${next.reason}`
  }
}

const replaced = (index: number, current = 'gone') => ({ selection: { current, currentIndex: index } })

describe('the plan for the units of a clique or a scaling group', () => {
  const table: [what: string, letters: string, expected: string, given?: Partial<UnitUpdateInput<Unit>>][] = [
    ['nothing is outdated', 'nns', 'finished'],
    ['outdated units that do not serve are replaced at once', 'opp', 'discard u1,u2', { minAvailable: 3 }],
    ['they wait while the template is not stable', 'op', 'wait: unstable', { stableInMs: 900 }],
    ['a serving unit is replaced while the template is not stable', 'oo', 'replace u0', { stableInMs: 900 }],
    ['serving units are replaced in the order of their indexes', 'noo', 'replace u1'],
    ['the next unit waits for the index of the last one', 'soo', 'wait for 0', replaced(0)],
    ['no unit has that index yet', ' oo', 'wait for 0', replaced(0)],
    ['the unit with that index serves', 'noo', 'replace u1', replaced(0)],
    ['an unrelated unit does not serve', 'nso', 'replace u2', replaced(0)],
    ['an unrelated unit is missing', 'n o', 'replace u2', replaced(0)],
    ['a scale-in removed that index', 'oo', 'replace u0', replaced(2)],
    ['the last unit has not recovered', 'nns', 'wait for 2', replaced(2)],
    ['the last unit has recovered', 'nnn', 'finished', replaced(2)],
    ['minAvailable units keep serving', 'oos', 'wait: budget', { minAvailable: 2 }],
    ['replicas == minAvailable: one unit at a time', 'oo', 'replace u0', { minAvailable: 2 }],
    ['replicas == minAvailable: only while all units serve', 'os', 'wait: budget', { minAvailable: 2 }],
    ['replicas < minAvailable', 'o', 'replace u0', { minAvailable: 2 }],
    ['a unit that was selected and not deleted is selected again', 'ooo', 'replace u2', replaced(2, 'u2')],
    ['within the budget', 'oss', 'wait: budget', { ...replaced(0, 'u0'), minAvailable: 1 }],
    ['a selection without an index', 'os', 'wait: budget', { selection: { current: 'gone' } }],
    ['a selection without an index does not delay', 'oo', 'replace u0', { selection: { current: 'gone' } }],
    ['a paused update replaces nothing', 'op', 'wait: paused', { paused: true }],
    ['a paused update ends', 'nn', 'finished', { paused: true }],
  ]
  for (const [what, letters, expected, given] of table)
    test(`${what}: ${letters}`, () => assert.equal(planned(letters, given), expected))
})

test('the oldest serving unit is replaced first', () => {
  const units = unitsOf('ooo').map((unit, at) => ({ ...unit, createdAt: [3, 1, 2][at]! }))
  assert.equal(planned('ooo', { units }), 'replace u1')
})

test('only an unstable template changes the plan without a change in the cluster', () => {
  assert.equal(retryInMs(plan('op', { stableInMs: 900 })), 900)
  for (const letters of ['oo', 'op', 'nn', 'os']) assert.equal(retryInMs(plan(letters)), 0)
})

describe('random units', () => {
  const seed = 20_301
  const letters = fc.string({ unit: fc.constantFrom('o', 'p', 'n', 's', ' '), maxLength: 8 })
  const given = fc.record({
    minAvailable: fc.integer({ min: 1, max: 8 }),
    index: fc.nat(7),
    old: fc.boolean(),
  })
  const inputOf = ({ minAvailable, index, old }: { minAvailable: number; index: number; old: boolean }) => ({
    minAvailable,
    ...replaced(index, old ? `u${index}` : 'gone'),
  })

  test('at most one serving unit is replaced, and minAvailable units stay where there are more replicas', () => {
    fc.assert(
      fc.property(letters, given, (shape, one) => {
        const next = plan(shape, inputOf(one))
        if (next.kind === 'discard') assert.ok(next.units.every(unit => unit.outdated && !unit.serving))
        if (next.kind !== 'replace') return
        assert.ok(next.unit.outdated && next.unit.serving)
        const serving = unitsOf(shape).filter(unit => unit.serving).length
        if (shape.length > one.minAvailable) assert.ok(serving - 1 >= one.minAvailable)
        else assert.equal(serving, shape.length)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('an update ends when every replacement serves, whatever the order of its steps', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('o', 'p', 'n'), maxLength: 8 }),
        fc.nat(8),
        (shape, min) => {
          let now = [...shape]
          let selection: UnitUpdateInput<Unit>['selection']
          for (let step = 0; step <= 2 * shape.length; step++) {
            const next = plan(now.join(''), {
              minAvailable: Math.max(1, min),
              ...(selection && { selection }),
            })
            if (next.kind === 'finished') return assert.ok(now.every(letter => letter === 'n'))
            assert.notEqual(next.kind, 'wait', `${shape} with ${min} waits at ${now.join('')}`)
            const indexes =
              next.kind === 'discard'
                ? next.units.map(unit => unit.index!)
                : next.kind === 'replace'
                  ? [next.unit.index!]
                  : []
            if (next.kind === 'replace')
              selection = { current: String(next.unit.id), currentIndex: next.unit.index }
            now = now.map((letter, index) => (indexes.includes(index) ? 'n' : letter))
          }
          assert.fail(`${shape} with ${min} does not end`)
        },
      ),
      { seed, numRuns: 500 },
    )
  })
})
