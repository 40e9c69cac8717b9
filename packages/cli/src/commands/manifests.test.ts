// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { call } from '../testing/grove-call.ts'

test('grove manifests prints YAML documents and a List, with the namespace first on demand', async () => {
  const yaml = await call(['manifests', '--create-namespace', '-n', 'mine'])
  const objects = parseAllDocuments(yaml.stdout).map(document => document.toJS())
  const list = JSON.parse(
    (await call(['manifests', '--create-namespace', '-n', 'mine', '-o', 'json'])).stdout,
  )
  assert.equal(list.kind, 'List')
  assert.deepEqual(list.items, objects)
  assert.deepEqual(objects[0], { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } })
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace).filter(Boolean))
  assert.deepEqual([...namespaces], ['mine'])
  assert.doesNotMatch(yaml.stdout, /grove-system/)
})

test('a grove of no release warns that the images are those of development', async () => {
  const table: [args: string, missing: string | undefined][] = [
    ['', '--image and --waiter-image'],
    ['--image registry.example/operator:v1', '--waiter-image'],
    ['--image registry.example/operator:v1 --waiter-image registry.example/waiter', undefined],
  ]
  for (const [args, missing] of table) {
    const { status, stderr } = await call(['manifests', ...args.split(' ').filter(Boolean)])
    assert.equal(status, 0)
    if (missing) assert.match(stderr, new RegExp(`built without a registry.*\\. Set ${missing}\\.\n$`))
    else assert.equal(stderr, '')
  }
})

test('grove manifests rejects invalid names and images', async () => {
  const table: [args: string, message: RegExp][] = [
    ['-n Bad_Name', /--namespace must be the name of a namespace, not "Bad_Name"/],
    ['--image registry.example:5000/operator', /--image requires a tag or a digest/],
  ]
  for (const [args, message] of table) {
    const { status, stdout, stderr } = await call(['manifests', ...args.split(' ')])
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, message)
  }
})
