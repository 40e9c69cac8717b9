// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { type EmbeddedCluster, startEmbedded } from '../../testing/embedded-cluster.ts'
import { call } from '../../testing/grove-call.ts'
import { testMistakes } from '../../testing/mistake-table.ts'
import { soundSet } from '../../testing/mistakes.ts'

test('validate accepts the set without a mistake', async () => {
  const { status, stdout } = await call(['validate', '-f', '-'], { input: soundSet })
  assert.deepEqual([status, stdout], [0, '✓ PodCliqueSet mine\n1 accepted\n'])
})

describe('validate and apply report each mistake once, at its line, on the embedded cluster', () => {
  let cluster: EmbeddedCluster
  before(async () => {
    cluster = await startEmbedded(0)
  })
  after(() => cluster?.stop())
  testMistakes(() => cluster)
})

describe('an AdmissionReview', () => {
  const misspelt = soundSet.replace('roleName: work', 'rolename: work')
  const review = (options: object) =>
    stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u',
        operation: 'CREATE',
        kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet' },
        options,
        object: parse(misspelt),
      },
    })

  it('is validated as strictly as its options require, with the lines of the review', async () => {
    const table: [options: object, status: number][] = [
      [{ fieldValidation: 'Strict' }, 1],
      [{ fieldValidation: 'Warn' }, 0],
      [{}, 0],
    ]
    for (const [options, expected] of table) {
      const input = review(options)
      const line = input.split('\n').findIndex(text => text.includes('rolename')) + 1
      const { status, stdout } = await call(['validate', '-f', '-'], { input })
      assert.equal(status, expected)
      assert.ok(
        stdout.includes(`unknown field "spec.template.cliques[1].spec.rolename"  (line ${line})\n`),
        stdout,
      )
    }
  })
})
