// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fix } from '@grove/scheduler'
import { filled } from './columns.ts'
import { fixText } from './fix-text.ts'

const levels = [
  { domain: 'zone', key: 'example.com/zone' },
  { domain: 'rack', key: 'example.com/rack' },
]

test('every fix is an instruction', () => {
  const table: [Fix, string][] = [
    [{ op: 'Uncordon', cost: 5, nodes: ['a', 'b', 'c', 'd', 'e'] }, 'uncordon a, b, c, d and 1 more'],
    [
      { op: 'RemoveTaint', cost: 1, nodes: ['a'], taint: { key: 'k', value: 'v', effect: 'NoSchedule' } },
      'remove taint k=v:NoSchedule from a',
    ],
    [
      { op: 'AddToleration', cost: 1, podGroups: ['w'], toleration: { key: 'k', operator: 'Exists' } },
      'add a toleration for taint k to PodClique w',
    ],
    [
      { op: 'RelaxTopology', cost: 1, scope: 'g', from: 'example.com/rack', to: 'example.com/zone' },
      'require level zone instead of rack for g',
    ],
    [
      { op: 'RelaxTopology', cost: 1, scope: 'g', from: 'example.com/pool', to: null },
      'remove the required level example.com/pool of g',
    ],
    [{ op: 'LowerMinAvailable', cost: 1, podGroup: 'w', to: 2 }, 'lower minAvailable of PodClique w to 2'],
    [
      { op: 'DeletePods', cost: 1, pods: [{ namespace: 'n', name: 'p' }], holder: 'g' },
      'delete pod n/p of g',
    ],
    [{ op: 'AddNodes', cost: 1, count: 1, like: 'a' }, 'add 1 node like a'],
    [{ op: 'AddNodes', cost: 2, count: 2, like: 'a' }, 'add 2 nodes like a'],
  ]
  for (const [fix, text] of table) assert.equal(fixText(fix, levels), text)
})

test('lines are filled up to 80 columns, and long words stay whole', () => {
  const word = 'x'.repeat(90)
  assert.deepEqual(filled(`a ${word} b`, '  '), ['  a', `  ${word}`, '  b'])
  const lines = filled('word '.repeat(40).trim(), '    ')
  assert.ok(lines.every(line => line.length <= 80))
  assert.equal(lines.map(line => line.trim()).join(' '), 'word '.repeat(40).trim())
})
