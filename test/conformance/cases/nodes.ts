// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { chapter } from '../suite.ts'

const nodes = '/api/v1/nodes'

export const nodeCases = chapter('nodes', {
  'a created node keeps its status': async ({ http, id }) => {
    const made = await http.post(nodes, {
      metadata: { name: id },
      status: { capacity: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
    })
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('status.capacity'), { cpu: '4' })
    assert.deepEqual(made.at('status.allocatable'), { cpu: '4' })
    assert.equal(made.at('status.conditions.0.status'), 'True')
    await http.delete(`${nodes}/${id}`)
  },
  'an update of a node does not change its status': async ({ http, id }) => {
    await http.post(nodes, { metadata: { name: id }, status: { capacity: { cpu: '4' } } })
    const patched = await http.mergePatch(`${nodes}/${id}`, { status: { capacity: { cpu: '9' } } })
    assert.deepEqual(patched.at('status.capacity'), { cpu: '4' })
    await http.delete(`${nodes}/${id}`)
  },
  'rejects invalid taints': async ({ http, id }) => {
    const taint = { key: 'a', effect: 'NoSchedule' }
    const rejected = await http.post(nodes, {
      metadata: { name: id },
      spec: { taints: [{ key: 'a', effect: 'X' }, taint, taint, { key: 'b' }] },
    })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      `Node "${id}" is invalid: [metadata.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute", metadata.taints[2]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair, metadata.taints[3].effect: Required value]`,
    )
  },
})
