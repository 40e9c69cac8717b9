// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { firstBatch, parallelWrites, patchObject, runAll, runSlowStart, type Task } from './writes.ts'

/** Returns tasks that take one turn of the event loop each and record how many were running when each began. */
function tasks(count: number, fails: (at: number) => boolean = () => false) {
  const underWayAtStart: number[] = []
  let underWay = 0
  const list: Task[] = Array.from({ length: count }, (_, at) => async () => {
    underWay++
    underWayAtStart.push(underWay)
    await nextTurn()
    underWay--
    if (fails(at)) throw new Error(`rejected ${at}`)
  })
  return { list, underWayAtStart }
}

const texts = (failures: readonly unknown[]) => failures.map(failure => (failure as Error).message)

describe('runAll', () => {
  test('runs every task, returns failures in order, and respects the limit of parallel requests', async () => {
    const { list, underWayAtStart } = tasks(200, at => at % 90 === 0)
    assert.deepEqual(texts(await runAll(list)), ['rejected 0', 'rejected 90', 'rejected 180'])
    assert.equal(underWayAtStart.length, 200)
    assert.equal(Math.max(...underWayAtStart), parallelWrites)
  })
})

describe('a slow start', () => {
  test('begins with a few tasks and grows to the limit', async () => {
    const { list, underWayAtStart } = tasks(200)
    assert.deepEqual(await runSlowStart(list), { failures: [], skipped: 0 })
    assert.equal(underWayAtStart.length, 200)
    assert.equal(Math.max(...underWayAtStart.slice(0, firstBatch)), firstBatch)
    assert.equal(Math.max(...underWayAtStart), parallelWrites)
  })

  test('does not wait for the slowest of the first tasks', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const begun: number[] = []
    const list = Array.from({ length: 20 }, (_, at) => async () => {
      begun.push(at)
      await (at === 0 ? held : nextTurn())
    })
    const running = runSlowStart(list)
    while (begun.length < 20) await nextTurn()
    release()
    assert.deepEqual(await running, { failures: [], skipped: 0 })
  })

  test('continues while fewer failures occur than are tolerated', async () => {
    const some = tasks(200, at => at % 50 === 0)
    const { failures, skipped } = await runSlowStart(some.list, { tolerated: 8 })
    assert.deepEqual([texts(failures).length, skipped], [4, 0])
    const all = tasks(1_000, () => true)
    const rejected = await runSlowStart(all.list, { tolerated: 8 })
    assert.equal(all.underWayAtStart.length, 8)
    assert.deepEqual([rejected.failures.length, rejected.skipped], [8, 992])
  })

  test('starts no task after a failure, and returns how many were left', async () => {
    const { list, underWayAtStart } = tasks(1_000, at => at >= 700)
    const { failures, skipped } = await runSlowStart(list)
    assert.equal(texts(failures)[0], 'rejected 700')
    assert.ok(failures.length <= parallelWrites, `${failures.length} rejections`)
    assert.equal(underWayAtStart.length + skipped, 1_000)
  })

  test('stops after the first tasks if one of them is rejected', async () => {
    const { list } = tasks(100, () => true)
    const { failures, skipped } = await runSlowStart(list)
    assert.deepEqual([failures.length, skipped], [firstBatch, 100 - firstBatch])
  })

  test('returns at once for an empty list of tasks', async () => {
    assert.deepEqual(await runSlowStart([]), { failures: [], skipped: 0 })
  })
})

test('a patch names the UID of its object and keeps the rest of its metadata', async () => {
  const sent: unknown[] = []
  const client = { patch: async (...args: unknown[]) => void sent.push(args.slice(1, 3)) } as never
  const object = { metadata: { name: 'n', namespace: 's', uid: 'u' } } as never
  const merge = { metadata: { labels: { a: 'b' } }, spec: { c: 1 } }
  await patchObject({ client }, {} as never, object, { merge }, {})
  await patchObject({ client }, {} as never, object, { strategic: { spec: {} } }, {})
  const ref = { name: 'n', namespace: 's' }
  assert.deepEqual(sent, [
    [ref, { merge: { metadata: { labels: { a: 'b' }, uid: 'u' }, spec: { c: 1 } } }],
    [ref, { strategic: { metadata: { uid: 'u' }, spec: {} } }],
  ])
})
