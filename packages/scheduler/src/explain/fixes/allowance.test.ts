// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultPolicy, plan, snapshotFrom } from '../../index.ts'
import { memberPod, node, podGang } from '../../testing/objects.ts'
import { FixAllowance } from './allowance.ts'

/** Two gangs of two pods on one node that has room for one pod. */
const snapshot = snapshotFrom({
  nodes: [node('n', { cpu: '1' })],
  pods: ['g', 'h'].flatMap(name => [0, 1].map(index => memberPod(name, `${name}-w`, index, { cpu: '1' }))),
  podGangs: ['g', 'h'].map(name => podGang(name, [{ name: `${name}-w`, min: 2 }])),
})

test('a trial that costs more than the share of its gang is paid by the shares of the next gangs', () => {
  // A trial on this snapshot costs 1.25.
  const allowance = new FixAllowance(1)
  const trials = Array.from({ length: 8 }, () => {
    allowance.begin(4)
    return allowance.take(snapshot)
  })
  deepEqual(trials, [true, false, false, false, false, true, false, false])
})

test('a search that skips a trial is cut short, and the next one is not until it skips one', () => {
  const allowance = new FixAllowance(2)
  allowance.begin(1)
  equal(allowance.take(snapshot), true)
  equal(allowance.isCutShort, false)
  equal(allowance.take(snapshot), true)
  equal(allowance.take(snapshot), false)
  equal(allowance.isCutShort, true)
  allowance.begin(1)
  equal(allowance.isCutShort, false)
})

test('fixes are searched only for the gangs that are asked for', () => {
  const decision = plan(snapshot, defaultPolicy, 0, ({ name }) => name === 'h')
  deepEqual(
    decision.gangs.map(({ name, explanation }) => [name, (explanation?.fixes.length ?? 0) > 0]),
    [
      ['g', false],
      ['h', true],
    ],
  )
})
