// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCliqueSetSpec } from '../types/index.ts'
import { generationHash } from './hash.ts'
import { readRevisionRecord, restoreRecord, revisionRecord } from './record.ts'

const spec = (image: string): PodCliqueSetSpec => ({
  replicas: 2,
  template: {
    cliqueStartupType: 'CliqueStartupTypeAnyOrder',
    terminationDelay: '4h',
    priorityClassName: 'high',
    cliques: [
      {
        name: 'a',
        labels: { app: 'x' },
        annotations: { note: 'first', 'grove.io/topology-name': 'site' },
        spec: { roleName: 'a', replicas: 3, podSpec: { containers: [{ name: 'main', image }] } },
      },
      {
        name: 'b',
        spec: { roleName: 'b', replicas: 1, podSpec: { containers: [{ name: 'm', image: 'b:1' }] } },
      },
    ],
  },
})

test('a record has the hash of its set', () => {
  const record = revisionRecord(spec('a:1'))
  assert.equal(generationHash(record), generationHash(spec('a:1')))
  assert.deepEqual(readRevisionRecord(JSON.parse(JSON.stringify(record))), record)
})

test('a restore sets the pods and the priority class, and keeps all other fields', () => {
  const record = revisionRecord(spec('a:1'))
  const now = spec('a:2')
  now.replicas = 9
  const { priorityClassName: _, ...template } = now.template
  template.terminationDelay = '1h'
  const [first, second] = template.cliques
  first!.spec.replicas = 7
  first!.spec.minAvailable = 2
  first!.annotations = { note: 'second', 'grove.io/topology-name': 'annex' }
  delete first!.labels
  second!.annotations = { added: 'later' }
  const restored = restoreRecord(template, record)
  assert.ok('template' in restored)
  assert.equal(generationHash({ template: restored.template }), generationHash(spec('a:1')))
  const [a, b] = restored.template.cliques
  assert.equal(a!.spec.replicas, 7)
  assert.equal(a!.spec.minAvailable, 2)
  assert.equal(restored.template.terminationDelay, '1h')
  assert.equal(restored.template.priorityClassName, 'high')
  assert.deepEqual(a!.annotations, { note: 'first', 'grove.io/topology-name': 'annex' })
  assert.deepEqual(a!.labels, { app: 'x' })
  assert.equal(b!.annotations, undefined)
})

test('a record with other cliques cannot be restored, and the result names them', () => {
  const record = revisionRecord(spec('a:1'))
  const { template } = spec('a:2')
  template.cliques[1]!.name = 'c'
  assert.deepEqual(restoreRecord(template, record), { mismatch: ['c', 'b'] })
})

for (const data of [
  undefined,
  null,
  'text',
  {},
  { template: {} },
  { template: { cliques: [{ name: 'a' }] } },
])
  test(`${JSON.stringify(data)} is not a record`, () => {
    assert.equal(readRevisionRecord(data), undefined)
  })
