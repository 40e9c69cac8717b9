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

test('a set that does not fit is reported with the cause and with commands to try', () => {
  const cause =
    'PodGang llm-0: ClusterTooSmall: the gang needs 12 pods; all 5 eligible nodes together can hold 5 pods'
  for (const columns of [80, 120, Number.POSITIVE_INFINITY]) {
    const lines = whatNext({ ...shown, cause }, '/tmp/kubeconfig', columns)
    const text = lines.join(' ').replaceAll(/ +/g, ' ')
    assert.deepEqual(
      lines.filter(line => line.length > columns),
      [],
    )
    assert.ok(text.includes(`llm is not ready: ${cause}`), text)
    assert.match(text, /start again with more nodes or GPUs \(--nodes, --gpus\), or lower replicas/)
    assert.match(text, /`\S+ ?\S* explain llm` lists changes/)
    assert.ok(lines.includes(scale) || lines.some(line => line.startsWith(`${scale}  `)))
  }
})
