// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAuthority } from '@grove/kube'
import { componentNames } from './component.ts'
import { writeFiles } from './files.ts'
import { administrator } from './identities.ts'
import { mapFlag, programs } from './programs.ts'

const directory = mkdtempSync(join(tmpdir(), 'grove-programs-test-'))
after(() => rmSync(directory, { recursive: true }))
const authority = createAuthority('test')
const admin = authority.client(administrator)
const all = programs({
  binaries: { controlPlane: '/bin/control-plane', kwok: '/bin/kwok' },
  files: writeFiles(directory, authority, admin, 'https://127.0.0.1:20003'),
  ports: {
    etcd: 20001,
    etcdPeer: 20002,
    apiserver: 20003,
    controllerManager: 20004,
    scheduler: 20005,
    kwok: 20006,
  },
  ca: authority.pair.cert,
  admin,
  dataDirectory: join(directory, 'data'),
  logDirectory: join(directory, 'logs'),
  featureGates: { A: true, B: false },
  runtimeConfig: { 'x/v1': true },
  flags: { 'kube-scheduler': ['--v=4'] },
})

for (const name of componentNames)
  test(`${name} listens on loopback only and inherits nothing from the environment`, () => {
    const { args, env } = all[name]
    for (const arg of args.filter(arg => /\b\d+\.\d+\.\d+\.\d+\b/.test(arg)))
      assert.match(arg, /127\.0\.0\.1|--service-cluster-ip-range=|--cidr=/)
    assert.deepEqual(Object.keys(env).sort(), ['HOME', 'PATH', 'TMPDIR'])
  })

test('feature gates are set on the three components that have them, API versions on the apiserver', () => {
  const having = (flag: string) => componentNames.filter(name => all[name].args.includes(flag))
  assert.deepEqual(having('--feature-gates=A=true,B=false'), [
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
  ])
  assert.deepEqual(having('--runtime-config=x/v1=true'), ['kube-apiserver'])
  assert.deepEqual(mapFlag('feature-gates', {}), [])
})

test('additional flags are last, so that they take precedence', () => {
  assert.equal(all['kube-scheduler'].args.at(-1), '--v=4')
})

test('keys are readable only by their owner', () => {
  for (const name of ['ca.key', 'client.key', 'serving.key', 'service-account.key', 'kubeconfig'])
    assert.equal(statSync(join(directory, name)).mode & 0o077, 0)
})
