// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Stored } from '@grove/kube'
import type { ReplicaSet } from '../kinds.ts'
import { replicaSetStatus } from './replica-set-controller.ts'

const failing = (pod: string) => ({ reason: 'FailedCreate', message: `pods "${pod}" is forbidden` }) as const

describe('the status of a ReplicaSet', () => {
  const set = {
    metadata: { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { replicas: 1 },
  } as unknown as Stored<ReplicaSet>
  const first = replicaSetStatus(set, [], failing('web-a'), 0)

  it('keeps the first failure message while the failure lasts, so that a write does not cause the next', () => {
    const next = replicaSetStatus({ ...set, status: first }, [], failing('web-b'), 5_000)
    assert.equal(next.conditions?.[0]?.message, 'pods "web-a" is forbidden')
    assert.deepEqual(next, first)
  })

  it('drops the failure when it is over', () => {
    assert.deepEqual(replicaSetStatus({ ...set, status: first }, [], undefined, 5_000).conditions, [])
  })
})
