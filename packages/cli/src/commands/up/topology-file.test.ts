// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { nodeOf } from '@grove/cluster'
import { CommandError } from '../../command-error.ts'
import { readTopologyFile } from './topology-file.ts'

const sample = resolve(import.meta.dirname, '../../../../../playground/topology/topology.yaml')
const folder = mkdtempSync(join(tmpdir(), 'grove-topology-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function planned(text: string) {
  const path = join(folder, 'topology.yaml')
  writeFileSync(path, text)
  return readTopologyFile(path)
}

test('the sample of the playground matches its comments', async () => {
  const plans = await readTopologyFile(sample)
  const named = (prefix: string) => plans.filter(({ name }) => name.startsWith(prefix))
  assert.deepEqual([named('gpu').length, named('spare').length, named('cpu').length], [128, 4, 6])
  const gpus = plans.reduce((sum, { name, gpus: count = 0 }) => sum + (name.startsWith('gpu') ? count : 0), 0)
  assert.equal(gpus, 1_024)
  assert.equal(new Set(named('gpu').map(({ labels }) => labels['topology.kubernetes.io/rack'])).size, 16)
  assert.equal(named('spare')[0]?.taints?.[0]?.effect, 'NoSchedule')
  const { status, metadata } = nodeOf(named('gpu')[0]!, 0)
  assert.deepEqual(status?.capacity, {
    cpu: '192',
    memory: '2Ti',
    pods: '110',
    'nvidia.com/gpu': '8',
    'rdma/hca': '8',
  })
  assert.equal(metadata?.labels?.['node.example/pool'], 'training')
})

test('numbers are quantities, too', async () => {
  const [node] = await planned('nodes:\n  - cpu: 4\n    memory: 1000000000\n')
  assert.deepEqual([node?.cpu, node?.memory], ['4', '1000000000'])
})

test('every mistake is reported with its line', async () => {
  const table: [text: string, pattern: RegExp][] = [
    ['- a\n', /:1: the file must contain the key nodes/],
    ['', /must contain exactly one document, not 0/],
    ['nodes: 3\n', /:1: nodes must be a list of groups/],
    ['nodes:\n  - count: many\n', /:2: nodes\[0\]\.count must be a whole number, not "many"/],
    ['nodes:\n  - count: 1\n  - racks: 1.5\n', /:3: nodes\[1\]\.racks must be a whole number/],
    ['nodes:\n  - hostz: 3\n', /:2: nodes\[0\]\.hostz is unknown; the allowed keys are count, zones, /],
    ['nodes:\n  - cpu: lots\n', /:2: nodes\[0\]\.cpu must be a quantity such as 8 or 64Gi, not "lots"/],
    ['nodes:\n  - resources:\n      a/b: ~\n', /:3: nodes\[0\]\.resources\.a\/b must be a quantity/],
    ['nodes:\n  - name: Node_1\n', /:2: nodes\[0\]\.name must consist of lower case/],
    ['nodes:\n  - count: 2\n    racks: 2\n', /:2: nodes\[0\]\.count cannot be combined with/],
    ['nodes:\n  - labels: {a: 1}\n', /:2: nodes\[0\]\.labels\.a must be a string; put it in quotes/],
    ['nodes:\n  - taints: [{key: a, effect: Never}]\n', /:2: .*effect must be one of NoSchedule/],
    [
      'nodes:\n  - zones: 100\n    blocks: 100\n    racks: 100\n',
      /:1: nodes define 1000000 nodes; the maximum is 20000/,
    ],
    [
      'nodes: [{}]\nlabels:\n  row: x\n',
      /:3: labels\.row is unknown; the allowed keys are zone, block, rack, host/,
    ],
  ]
  for (const [text, pattern] of table)
    await assert.rejects(
      planned(text),
      error => error instanceof CommandError && pattern.test(error.message),
      text,
    )
})
