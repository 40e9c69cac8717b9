// SPDX-License-Identifier: Apache-2.0
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defaultPolicy, snapshotFrom } from '../index.ts'
import { runCycle } from '../planner/cycle.ts'
import { instances, propertyOptions } from '../testing/instances.ts'
import type { Gang } from '../types.ts'
import { causeOf } from './cause.ts'
import { misconfiguration, unknownNeeds } from './misconfigured.ts'

const copyOf = (gang: Gang, suffix: string): Gang => ({ ...gang, name: `${gang.name}-${suffix}` })

test('a gang waits for the same reason if an equal gang was explained before', () => {
  let compared = 0
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      const gangs = snapshot.gangs.flatMap(gang => [gang, copyOf(gang, 'b'), copyOf(gang, 'c')])
      const cycle = runCycle({ ...snapshot, gangs }, { ...defaultPolicy, fixes: false })
      cycle.results.forEach((result, index) => {
        if (result.kind !== 'unschedulable' || !result.proved) return
        if (misconfiguration(cycle.model, index) || unknownNeeds(cycle.model, index)) return
        const steps = defaultPolicy.budget.gang
        const { code, facts, waitsFor } = causeOf(cycle, index, result.before, steps)
        // Another object for the same cycle has no known causes.
        const alone = causeOf({ ...cycle }, index, result.before, steps)
        deepEqual(
          { code, facts, waitsFor },
          { code: alone.code, facts: alone.facts, waitsFor: alone.waitsFor },
        )
        compared++
      })
    }),
    propertyOptions(500),
  )
  ok(compared > 200)
})
