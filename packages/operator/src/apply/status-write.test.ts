// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KubeError, type KubeErrorCode, type Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { writeStatus } from './status-write.ts'

const set = {
  metadata: { name: 'w', namespace: 'serving', uid: 'u', resourceVersion: '7' },
  status: { replicas: 1 },
} as unknown as Stored<never>

function write(status: object, failure?: KubeErrorCode) {
  const sent: unknown[] = []
  const caches = {
    client: {
      patch: async (...args: unknown[]) => {
        sent.push(args[2])
        if (failure) throw new KubeError({ code: failure, message: failure })
      },
    },
  } as unknown as Caches
  return writeStatus(caches, resources.podCliqueSets as never, set, status, {}).then(written => ({
    written,
    sent,
  }))
}

test('patches the changed fields of a status, with the resource version that it was computed from', async () => {
  assert.deepEqual(await write({ replicas: 1 }), { written: false, sent: [] })
  assert.deepEqual(await write({ replicas: 2 }), {
    written: true,
    sent: [{ merge: { metadata: { resourceVersion: '7', uid: 'u' }, status: { replicas: 2 } } }],
  })
})

test('ignores NotFound for a deleted object, and throws every other error', async () => {
  assert.equal((await write({ replicas: 2 }, 'NotFound')).written, false)
  await assert.rejects(write({ replicas: 2 }, 'Conflict'), /Conflict/)
})
