// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod, PodGang } from '@grove/api'
import { memberPod, podGang } from '../testing/objects.ts'
import { BoundStatusDelay, boundStatusDelayMs } from './bound-status-delay.ts'
import { bindingStatus, gangStatus, type Members, progressOf } from './gang-status.ts'
import { planRelease } from './release.ts'

const now = Date.UTC(2026, 0, 1)
const uid = 'gang'
const created = podGang('w-0', [{ name: 'a', min: 2 }])
const members = (...pods: Pod[]): Members => new Map([['a', pods]])
const bound = members(
  memberPod('w-0', 'a', 0, { cpu: '1' }, { node: 'n' }),
  memberPod('w-0', 'a', 1, { cpu: '1' }, { node: 'n' }),
)
/** As stored after the record of an attempt. */
const stored: PodGang = {
  ...created,
  metadata: { ...created.metadata, uid },
  status: bindingStatus(created, progressOf(created, members()), 2, now),
}
const scheduled = gangStatus(stored, progressOf(stored, bound), undefined, now)

describe('the delay of the status of a bound gang', () => {
  test('begins with the first change and is not extended by later ones', () => {
    const delay = new BoundStatusDelay()
    assert.equal(delay.delayMs(uid, scheduled, 1_000), boundStatusDelayMs)
    assert.equal(delay.delayMs(uid, scheduled, 1_100), boundStatusDelayMs - 100)
    assert.equal(delay.delayMs(uid, scheduled, 1_000 + boundStatusDelayMs), 0)
  })

  test('begins again after the status was written', () => {
    const delay = new BoundStatusDelay()
    delay.delayMs(uid, scheduled, 1_000)
    delay.clear(uid)
    assert.equal(delay.delayMs(uid, scheduled, 9_000), boundStatusDelayMs)
  })

  test('forgets gangs that no longer exist', () => {
    const delay = new BoundStatusDelay()
    delay.delayMs(uid, scheduled, 1_000)
    delay.delayMs('kept', scheduled, 1_000)
    delay.retain(new Set(['kept']))
    assert.equal(delay.size, 1)
  })

  test('keeps the pods of a gang that loses one before its status is written', () => {
    const delay = new BoundStatusDelay()
    delay.delayMs(uid, scheduled, 1_000)
    const left = members(...bound.get('a')!.slice(0, 1))
    const release = (gang: PodGang) =>
      planRelease(gang, left.get('a')!, progressOf(gang, left), undefined, 30_000, now).pods.length
    const known = delay.withDelayed(stored)
    assert.deepEqual([release(stored), release(known)], [1, 0])
    const lost = gangStatus(known, progressOf(known, left), undefined, now + 100)
    assert.equal(lost.conditions?.find(({ type }) => type === 'Unhealthy')?.status, 'True')
  })

  test('keeps the pods of a gang that loses one before the watch shows its bindings', () => {
    const delay = new BoundStatusDelay()
    delay.recordBound(uid, '2026-01-01T00:00:00Z', 1_000)
    const left = members(...bound.get('a')!.slice(0, 1))
    const known = delay.withDelayed(stored)
    const { pods } = planRelease(known, left.get('a')!, progressOf(known, left), undefined, 30_000, now)
    assert.deepEqual(pods, [])
    const lost = gangStatus(known, progressOf(known, left), undefined, now + 100)
    assert.equal(lost.conditions?.find(({ type }) => type === 'Unhealthy')?.status, 'True')
    assert.equal(delay.delayMs(uid, scheduled, 1_100), boundStatusDelayMs - 100)
  })

  test('reports the time at which the gang was bound, not the time of the write', () => {
    const delay = new BoundStatusDelay()
    delay.delayMs(uid, scheduled, 1_000)
    const written = gangStatus(delay.withDelayed(stored), progressOf(stored, bound), undefined, now + 5_000)
    const time = written.conditions?.find(({ type }) => type === 'Scheduled')?.lastTransitionTime
    assert.equal(time, '2026-01-01T00:00:00Z')
  })
})
