// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import { call } from '../../testing/grove-call.ts'
import { countObjects } from './object-count.ts'

const sample = readFileSync(
  resolve(import.meta.dirname, '../../../../../playground/disaggregated/podcliqueset.yaml'),
  'utf8',
)

const counted = new Set(['Pod', 'PodClique', 'PodCliqueScalingGroup', 'PodGang', 'Service'])

describe('the object count of a set', () => {
  for (const replicas of [1, 3])
    it(`equals the number of rendered objects with replicas ${replicas}`, async () => {
      const input = sample.replace(/^( {2}replicas:) \d+/m, `$1 ${replicas}`)
      const { stdout: validated } = await call(['validate', '-o', 'json', '-f', '-'], { input })
      const { stdout: printed } = await call(['render', '-o', 'json', '-f', '-'], { input })
      const objects = JSON.parse(printed).items as { kind: string }[]
      assert.equal(
        countObjects(JSON.parse(validated)[0].object as PodCliqueSet),
        objects.filter(({ kind }) => counted.has(kind)).length,
      )
    })

  const table: [what: string, from: RegExp, to: string][] = [
    ['a set', /^( {2}replicas:) \d+/m, '$1 2000000000'],
    ['a group', /(podCliqueScalingGroups:[^#]*?replicas:) \d+/, '$1 2000000000'],
    ['a clique', /(cliques:[^#]*?replicas:) \d+/, '$1 2000000000'],
  ]
  for (const [what, from, to] of table)
    it(`of ${what} with two billion replicas is rejected at once`, async () => {
      const input = sample.replace(from, to)
      assert.notEqual(input, sample)
      const { status, stdout, stderr } = await call(['render', '-f', '-'], { input })
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(
        stderr,
        /^warning: [^\n]* exceeds the limit of 10000 [^\n]*\ngrove: standard input:\d+: the set consists of [\d,]+ objects and render prints at most 50,000; lower the replicas of the set, its groups or its cliques\n$/,
      )
    })

  it('of several sets is the sum', async () => {
    const many = (name: string) =>
      sample.replace(/^( {2}replicas:) \d+/m, '$1 1200').replace(/name: llm\n/, `name: ${name}\n`)
    const { status, stderr } = await call(['render', '-f', '-'], { input: `${many('a')}---\n${many('b')}` })
    assert.equal(status, 1)
    assert.match(stderr, /the set consists of [\d,]+ objects/)
  })
})
