// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { call } from '../testing/grove-call.ts'
import { parseManifests } from './manifest.ts'
import { itemsOf } from './manifest-lists.ts'

const items = (text: string) => parseManifests(text, 'file.yaml').flatMap(itemsOf)

test('a list is expanded into its items, each with its position', () => {
  const [first, second] = items(
    'apiVersion: v1\nkind: List\nitems:\n- {kind: A, x: 1}\n-\n  kind: B\n  on-top:\n    z: 2\n',
  )
  assert.deepEqual([first?.value, first?.line], [{ kind: 'A', x: 1 }, 4])
  assert.deepEqual([second?.value, second?.line], [{ kind: 'B', 'on-top': { z: 2 } }, 6])
  assert.deepEqual(second?.locate('on-top.z'), { line: 8, column: 5 })
})

test('also in JSON, and with nested lists', () => {
  const [item] = items(
    '{"apiVersion": "v1", "kind": "List", "items": [\n{"apiVersion": "v1", "kind": "List", "items": [\n{"kind": "A"}]}]}',
  )
  assert.deepEqual([item?.value, item?.line], [{ kind: 'A' }, 3])
})

test('items of a typed list may omit apiVersion and kind', () => {
  const [item] = items('{apiVersion: v1, kind: PodList, items: [{metadata: {name: a}}]}')
  assert.deepEqual(item?.value, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })
})

test('an object that only resembles a list is unchanged', () => {
  for (const text of ['{apiVersion: v1, kind: List}', '{kind: List, items: []}', '[1, 2]'])
    assert.equal(items(text).length, 1, text)
})

const set = (replicas: string) => `- apiVersion: grove.io/v1alpha1
  kind: PodCliqueSet
  metadata: {name: demo}
  spec:
    replicas: 1
    template:
      cliques:
      - name: web
        spec:
          roleName: web
          ${replicas}
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
`
const list = (item: string) => `apiVersion: v1\nkind: List\nitems:\n${item}`

test('validate checks the sets of a list and prints the lines', async () => {
  const table: [string, number, RegExp][] = [
    ['replicas: 2', 0, /^✓ PodCliqueSet demo\n1 accepted\n$/],
    ['replicas: two', 1, /\(standard input:4\)\n.*must be an integer, not a string {2}\(line 14\)\n/],
    ['replicsa: 2', 1, /^ {4}unknown field "spec.template.cliques\[0\].spec.replicsa" {2}\(line 14\)\n/m],
  ]
  for (const [field, status, pattern] of table) {
    const response = await call(['validate', '-f', '-'], { input: list(set(field)) })
    assert.match(response.stdout, pattern)
    assert.equal(response.status, status)
  }
})

test('render and hash read the sets of a list, and warn about unknown fields', async () => {
  for (const command of ['render', 'hash']) {
    const { stdout, stderr } = await call([command, '-f', '-'], { input: list(set('replicsa: 2')) })
    assert.match(stdout, /demo/)
    assert.match(stderr, /^warning: standard input:4: unknown field "spec\S+replicsa"\n$/)
  }
})

test('validate, render and hash read the manifests of a folder, sorted by name', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-folder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const named = (name: string) => list(set('replicas: 2')).replace('name: demo', `name: ${name}`)
  writeFileSync(join(folder, 'b.yml'), named('second'))
  writeFileSync(join(folder, 'a.yaml'), named('first'))
  writeFileSync(join(folder, 'notes.txt'), 'no: manifest\n')
  const { stdout } = await call(['validate', '-f', folder])
  assert.equal(stdout, '✓ PodCliqueSet first\n✓ PodCliqueSet second\n2 accepted\n')
  for (const command of ['render', 'hash'])
    assert.match((await call([command, '-f', folder])).stdout, /first.*second/s)
})
