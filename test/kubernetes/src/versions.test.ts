// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { versionFlags } from './build.ts'
import { checkGoVersion, GoError } from './go.ts'
import { cacheKey, controlPlaneSource, moduleFile, readModule, readVersions } from './versions.ts'

test('the versions of Kubernetes and etcd are those of go.mod', () => {
  const goMod = 'require (\n\tgo.etcd.io/etcd/server/v3 v3.7.0\n\tk8s.io/kubernetes v1.99.2\n)\n'
  assert.deepEqual(
    { ...readVersions(goMod), kwok: undefined },
    { kubernetes: 'v1.99.2', etcd: 'v3.7.0', kwok: undefined },
  )
  assert.match(readVersions().kubernetes, /^v1\.\d+\.\d+$/)
  assert.throws(() => readVersions('module x\n'), /k8s.io\/kubernetes/)
})

test('KUBERNETES_VERSION selects a pinned version, and rejects others with those that exist', () => {
  const files = ['go.mod', 'go.sum', 'main.go', 'v1.98.3.mod', 'v1.98.3.sum']
  assert.equal(moduleFile('', files), 'go.mod')
  assert.equal(moduleFile(readVersions(readModule('go.mod')).kubernetes, files), 'go.mod')
  assert.equal(moduleFile('v1.98.3', files), 'v1.98.3.mod')
  assert.throws(() => moduleFile('v1.98.4', files), /pins only v1\.\d+\.\d+, v1\.98\.3\./)
})

test('every file of a version pins that version, with the checksums of its modules', () => {
  const files = readdirSync(controlPlaneSource)
  const others = files.filter(name => /^v.*\.mod$/.test(name))
  assert.ok(others.length > 0)
  for (const name of others) {
    assert.equal(`${readVersions(readModule(name)).kubernetes}.mod`, name)
    assert.ok(files.includes(name.replace(/mod$/, 'sum')), name)
  }
})

test('the cache key contains version and platform and changes with every input', () => {
  const key = cacheKey('control-plane', 'v1.2.3', ['a', 'b'], 'linux', 'x64')
  assert.match(key, /^control-plane-v1\.2\.3-linux-x64-[0-9a-f]{12}$/)
  assert.equal(key, cacheKey('control-plane', 'v1.2.3', ['a', 'b'], 'linux', 'x64'))
  const others = [
    cacheKey('control-plane', 'v1.2.4', ['a', 'b'], 'linux', 'x64'),
    cacheKey('control-plane', 'v1.2.3', ['ab', ''], 'linux', 'x64'),
    cacheKey('control-plane', 'v1.2.3', ['a', 'c'], 'linux', 'x64'),
    cacheKey('control-plane', 'v1.2.3', ['a', 'b'], 'darwin', 'x64'),
    cacheKey('control-plane', 'v1.2.3', ['a', 'b'], 'linux', 'arm64'),
  ]
  assert.equal(new Set([key, ...others]).size, 6)
})

test('the version is stamped into the binary', () => {
  const flags = versionFlags('v1.37.1')
  assert.match(flags, /gitVersion=v1\.37\.1 /)
  assert.match(flags, /gitMajor=1 /)
  assert.match(flags, /gitMinor=37$/)
})

for (const printed of [
  'go version go1.26.8 linux/amd64',
  'go version go1.27rc1 linux/arm64',
  'go version go2.0 x',
])
  test(`"${printed}" will do`, () => checkGoVersion(printed))

for (const printed of ['go version go1.25.9 linux/amd64', 'go version go1.9 linux/amd64', 'gcc (GCC) 14'])
  test(`"${printed}" is rejected with installation instructions`, () => {
    assert.throws(
      () => checkGoVersion(printed),
      (error: unknown) => error instanceof GoError && /Install Go 1\.26 or newer/.test(error.message),
    )
  })
