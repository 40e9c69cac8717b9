// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { boundsOf, planRollout, type SetState } from './rollout.ts'

const deployment = (replicas: number, maxSurge: number | string, maxUnavailable: number | string) => ({
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } },
})

describe('the bounds of a rollout', () => {
  const cases = [
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [4, 0, '10%', 0, 1],
    [3, 0, 0, 0, 1],
    [5, 2, 9, 2, 5],
  ] as const
  for (const [replicas, maxSurge, maxUnavailable, surge, unavailable] of cases)
    it(`for ${replicas} replicas with maxSurge ${maxSurge} and maxUnavailable ${maxUnavailable}`, () => {
      assert.deepEqual(boundsOf(deployment(replicas, maxSurge, maxUnavailable)), { surge, unavailable })
    })
})

describe('a rollout', () => {
  const shape = fc.record({
    replicas: fc.integer({ min: 0, max: 30 }),
    surge: fc.oneof(fc.nat(5), fc.constantFrom('25%', '50%', '100%')),
    unavailable: fc.oneof(fc.nat(5), fc.constantFrom('0%', '25%', '100%')),
    old: fc.array(fc.nat(15), { maxLength: 3 }),
    luck: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
  })

  it('stays within its bounds at every step, and ends with only new pods', () => {
    fc.assert(
      fc.property(shape, ({ replicas, surge, unavailable, old, luck }) => {
        const target = deployment(replicas, surge, unavailable)
        const bounds = boundsOf(target)
        const sets = new Map<string, SetState>()
        const of = (name: string, size: number): SetState => ({
          name,
          created: name,
          replicas: size,
          actual: size,
          available: size,
        })
        for (const [index, size] of old.entries()) sets.set(`old-${index}`, of(`old-${index}`, size))
        sets.set('z-new', of('z-new', 0))
        const total = () => [...sets.values()].reduce((sum, set) => sum + set.replicas, 0)
        const available = () => [...sets.values()].reduce((sum, set) => sum + set.available, 0)
        const startedWith = { total: total(), available: available() }
        for (let step = 0; step < 200; step++) {
          const { 'z-new': current, ...older } = Object.fromEntries(sets)
          const sizes = planRollout(target, current!, Object.values(older))
          for (const [name, size] of sizes) {
            const set = sets.get(name)!
            // Scaling down may delete available pods. New pods are not available yet.
            sets.set(name, { ...set, replicas: size, actual: size, available: Math.min(set.available, size) })
          }
          assert.ok(total() <= Math.max(replicas + bounds.surge, startedWith.total), 'too many pods')
          assert.ok(
            available() >= Math.min(replicas - bounds.unavailable, startedWith.available),
            'too few pods',
          )
          if (luck[step % luck.length] || sizes.size === 0) {
            const waiting = [...sets.values()].find(set => set.available < set.replicas)
            if (waiting) sets.set(waiting.name, { ...waiting, available: waiting.available + 1 })
            else if (sizes.size === 0) break
          }
        }
        assert.equal(sets.get('z-new')!.replicas, replicas)
        assert.equal(total(), replicas)
      }),
      { numRuns: 300 },
    )
  })

  it('with strategy Recreate creates no new pod before the last old one is gone', () => {
    const spec = { replicas: 2, strategy: { type: 'Recreate' } }
    const of = (name: string, replicas: number, actual: number) => ({
      name,
      created: name,
      replicas,
      actual,
      available: 0,
    })
    assert.deepEqual(planRollout({ spec }, of('n', 0, 0), [of('o', 2, 2)]), new Map([['o', 0]]))
    assert.deepEqual(planRollout({ spec }, of('n', 0, 0), [of('o', 0, 1)]), new Map())
    assert.deepEqual(planRollout({ spec }, of('n', 0, 0), [of('o', 0, 0)]), new Map([['n', 2]]))
  })
})
