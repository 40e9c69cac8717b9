// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whatNext } from './words.ts'

const shown = {
  set: 'llm',
  namespace: 'default',
  path: 'set.yaml',
  group: { name: 'llm-0-decode', replicas: 3 },
  node: 'node-12',
}
const scale = '  kubectl scale pcsg llm-0-decode --replicas=4'

test('why to type a command stands beside it', () => {
  const lines = whatNext(shown, '/tmp/kubeconfig')
  assert.ok(lines.some(line => line.startsWith(scale) && line.endsWith('  # one more group, one more gang')))
})

test('and above it where lines would be wrapped', () => {
  const lines = whatNext(shown, '/tmp/kubeconfig', 80)
  assert.deepEqual(
    lines.filter(line => line.length > 80),
    [],
  )
  assert.equal(lines[lines.indexOf(scale) - 1], '  # one more group, one more gang')
})
