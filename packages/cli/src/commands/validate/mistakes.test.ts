// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parse, stringify } from 'yaml'
import { call } from '../../testing/grove-call.ts'
import { mistakes, soundSet } from '../../testing/mistakes.ts'

describe('validate reports each mistake once, at its line', () => {
  it('and accepts the set without a mistake', async () => {
    const { status, stdout } = await call(['validate', '-f', '-'], { input: soundSet })
    assert.deepEqual([status, stdout], [0, '✓ PodCliqueSet mine\n1 accepted\n'])
  })

  for (const { title, manifest, lines } of mistakes)
    it(title, async () => {
      const { status, stdout } = await call(['validate', '-f', '-'], { input: manifest })
      const [, ...found] = stdout.split('\n').slice(0, -2)
      assert.deepEqual(
        found.map(line => line.slice(4)),
        lines,
      )
      assert.equal(status, 1)
    })
})

describe('validate reports the changed value of an update', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-update-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const old = join(folder, 'old.yaml')
  writeFileSync(old, soundSet)

  const table: [title: string, from: string, to: string, line: string][] = [
    [
      'of the second clique',
      'roleName: work',
      'roleName: other',
      'spec.template.cliques.spec.roleName: Invalid value: "other": field is immutable  (line 25)',
    ],
    [
      'that another clique has, too',
      'roleName: work\n          replicas: 2',
      'roleName: work\n          replicas: 2\n          minAvailable: 1',
      'spec.template.cliques.spec.minAvailable: Invalid value: 1: field is immutable  (line 27)',
    ],
    [
      'of a clique that is new',
      'name: lead\n',
      'name: leader\n',
      "spec.template.cliques.name: Forbidden: not allowed to change clique composition, new clique name 'leader' is not allowed  (line 10)",
    ],
  ]
  for (const [title, from, to, line] of table)
    it(title, async () => {
      const input = soundSet
        .replace(from, to)
        .replace('[lead]', to.startsWith('name') ? '[leader]' : '[lead]')
      const { status, stdout } = await call(['validate', '-f', '-', '--old', old], { input })
      assert.equal(status, 1)
      assert.ok(stdout.includes(`\n    ${line}\n`), stdout)
    })
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
