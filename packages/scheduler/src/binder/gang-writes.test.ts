// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodGang } from '@grove/api'
import { sortKeys } from '@grove/apimachinery'
import { type Client, type Stored, silentLogger } from '@grove/kube'
import { memberPod, podGang } from '../testing/objects.ts'
import { gangStatus, progressOf } from './gang-status.ts'
import { GangWrites } from './gang-writes.ts'
import { Slots } from './slots.ts'

const gang = podGang('w-0', [{ name: 'a', min: 1 }])
const bound = new Map([['a', [memberPod('w-0', 'a', 0, { cpu: '1' }, { node: 'n' })]]])
const status = gangStatus(gang, progressOf(gang, bound), undefined, Date.UTC(2026, 0, 1))

/** Counts the patches. */
function writesTo(patches: unknown[]): GangWrites {
  const client = { patch: async (...patch: unknown[]) => patches.push(patch) } as unknown as Client
  return new GangWrites({ client, log: silentLogger, slots: new Slots(1) })
}

test('writes no status that the API server returns with its keys in another order', async () => {
  const patches: unknown[] = []
  const stored = { ...gang, status: sortKeys(status) } as Stored<PodGang>
  assert.notEqual(JSON.stringify(stored.status), JSON.stringify(status))
  assert.equal(await writesTo(patches).writeStatus(stored, status, AbortSignal.any([])), true)
  assert.deepEqual(patches, [])
})

test('writes a status that differs', async () => {
  const patches: unknown[] = []
  const stored = { ...gang, status: { ...status, phase: 'Pending' } } as Stored<PodGang>
  assert.equal(await writesTo(patches).writeStatus(stored, status, AbortSignal.any([])), true)
  assert.equal(patches.length, 1)
})
