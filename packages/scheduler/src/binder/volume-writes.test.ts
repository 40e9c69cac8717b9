// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Client, type Clock, KubeError, silentLogger } from '@grove/kube'
import type { PersistentVolumeClaim, PodBinding } from '../types.ts'
import { selectNode } from './volume-writes.ts'

const key = 'volume.kubernetes.io/selected-node'
const claim = (spec: object = {}, annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
  metadata: { name: 'p-data', namespace: 'default', uid: 'u', resourceVersion: '7', annotations },
  spec,
})
const binding: PodBinding = {
  namespace: 'default',
  pod: 'p',
  uid: 'pod-uid',
  node: 'n',
  gang: 'g',
  podGroup: 'c',
  part: 'minimum',
  volumeClaims: ['p-data'],
}

/** Selects the node while the API server shows the claim as given, one entry for each read. */
async function select(...shown: (PersistentVolumeClaim | undefined | Error)[]) {
  const patches: unknown[] = []
  let reads = 0
  const client = {
    find: async () => {
      const found = shown[Math.min(reads++, shown.length - 1)]
      if (found instanceof Error) throw found
      return found
    },
    patch: async (_: unknown, __: unknown, { merge }: { merge: unknown }) => patches.push(merge),
  } as unknown as Client
  const clock = { sleep: async () => undefined } as unknown as Clock
  const isSelected = await selectNode(binding, { client, clock, log: silentLogger }, AbortSignal.any([]))
  return { isSelected, patches, reads }
}

const selection = { metadata: { uid: 'u', resourceVersion: '7', annotations: { [key]: 'n' } } }

describe('the node of a volume that waits for its first consumer', () => {
  test('is written to the claim with its resource version', async () => {
    assert.deepEqual(await select(claim()), { isSelected: true, patches: [selection], reads: 1 })
  })

  test('is not written if the volume exists or the node is selected already', async () => {
    for (const one of [claim({ volumeName: 'pv' }), claim({}, { [key]: 'n' })])
      assert.deepEqual(await select(one), { isSelected: true, patches: [], reads: 1 })
  })

  test('is never changed', async () => {
    assert.deepEqual(await select(claim({}, { [key]: 'other' })), {
      isSelected: false,
      patches: [],
      reads: 1,
    })
  })

  test('is written once Kubernetes has created the claim', async () => {
    assert.deepEqual(await select(undefined, claim()), { isSelected: true, patches: [selection], reads: 2 })
    assert.deepEqual(await select(undefined), { isSelected: false, patches: [], reads: 5 })
  })

  test('is written again after an error', async () => {
    const { isSelected, patches } = await select(
      new KubeError({ code: 500, message: 'no' } as never),
      claim(),
    )
    assert.deepEqual([isSelected, patches], [true, [selection]])
  })
})
