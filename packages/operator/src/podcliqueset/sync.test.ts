// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nothingDone } from '../apply/execute.ts'
import type { Component } from './child-component.ts'
import { syncComponents } from './sync.ts'

/** Runs groups `a b`, `c`, `d` in parallel with `x` (then `y`) and `z`; returns the started steps and the failures. */
async function run(failing: string, failedBefore = false) {
  const begun: string[] = []
  const part = (name: string, next?: Component): Component => ({
    name,
    run: async () => {
      begun.push(name)
      await nextTurn()
      if (failing.includes(name)) throw new Error(`no ${name}`)
      return nothingDone
    },
    ...(next && { next }),
  })
  const { failures } = await syncComponents(
    {
      groups: [[part('a'), part('b')], [part('c')], [part('d')]],
      alongside: [part('x', part('y')), part('z')],
    },
    failedBefore,
  )
  return [begun.toSorted().join(''), failures.map(failure => (failure as Error).message).join(', ')]
}

describe('the parts of a set', () => {
  const table: [what: string, failing: string, begun: string, failures: string][] = [
    ['all components run if none fails', '', 'abcdxyz', ''],
    ['a failure stops later groups, but not its own group', 'a', 'ab', 'failed to sync a: no a'],
    [
      'a failure of a later group does not stop independent components',
      'c',
      'abcxyz',
      'failed to sync c: no c',
    ],
    [
      'a failure of an independent component stops only its own successor',
      'x',
      'abcdxz',
      'failed to sync x: no x',
    ],
    [
      'all failures are reported',
      'cyz',
      'abcxyz',
      'failed to sync c: no c, failed to sync y: no y, failed to sync z: no z',
    ],
  ]
  for (const [what, failing, ...expected] of table)
    test(what, async () => assert.deepEqual(await run(failing), expected))

  test('after an earlier failure only the first group runs', async () =>
    assert.deepEqual(await run('', true), ['ab', '']))

  test('a later group starts only after the one before it; independent components wait for the first group', async () => {
    const log: string[] = []
    const part = (name: string): Component => ({
      name,
      run: async () => {
        log.push(`${name} begins`)
        await nextTurn()
        log.push(`${name} ends`)
        return nothingDone
      },
    })
    await syncComponents({ groups: [[part('a')], [part('b')], [part('c')]], alongside: [part('x')] }, false)
    const before = (one: string, other: string) =>
      assert.ok(log.indexOf(one) < log.indexOf(other), log.join())
    assert.equal(log.length, 8)
    before('a ends', 'b begins')
    before('b ends', 'c begins')
    before('a ends', 'x begins')
    before('x begins', 'b ends')
  })

  test('return whether one of them has more to create', async () => {
    const part = (name: string, progress: 'complete' | 'more', next?: Component): Component => ({
      name,
      run: async () => ({ ...nothingDone, hasMore: progress === 'more' }),
      ...(next && { next }),
    })
    const hasMore = async (groups: Component[][], alongside: Component[]) =>
      (await syncComponents({ groups, alongside }, false)).hasMore
    assert.equal(await hasMore([[part('a', 'complete')]], [part('x', 'complete')]), false)
    assert.equal(await hasMore([[part('a', 'more')], [part('b', 'complete')]], []), true)
    assert.equal(await hasMore([[], [part('b', 'more')]], []), true)
    assert.equal(await hasMore([[]], [part('x', 'complete', part('y', 'more'))]), true)
  })
})
