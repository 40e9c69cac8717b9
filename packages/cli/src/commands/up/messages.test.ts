// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whatNext } from './messages.ts'

const shown = {
  set: 'llm',
  namespace: 'default',
  path: 'set.yaml',
  group: { name: 'llm-0-decode', replicas: 3 },
  node: 'node-12',
}
const scale = '  kubectl scale pcsg llm-0-decode --replicas=4'

test('the comment of a command is on the same line', () => {
  const lines = whatNext(shown, '/tmp/kubeconfig')
  assert.ok(
    lines.some(
      line => line.startsWith(scale) && line.endsWith('  # add a scaling group replica in its own gang'),
    ),
  )
})

test('and above it if lines would be wrapped', () => {
  const lines = whatNext(shown, '/tmp/kubeconfig', 80)
  assert.deepEqual(
    lines.filter(line => line.length > 80),
    [],
  )
  assert.equal(lines[lines.indexOf(scale) - 1], '  # add a scaling group replica in its own gang')
})
