// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CredentialsError } from '../client/credentials.ts'
import { FakeClock } from '../clock/index.ts'
import { ExecCredentials } from './exec-credentials.ts'
import type { KubeconfigExec } from './kubeconfig-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'exec-'))
after(() => rmSync(directory, { recursive: true }))
const apiVersion = 'client.authentication.k8s.io/v1'
const runs = join(directory, 'runs')

/** A plugin that records each run and prints the content of the file `output`. */
const plugin = join(directory, 'plugin')
writeFileSync(
  plugin,
  `#!/bin/sh\necho "$1 $EXTRA $KUBERNETES_EXEC_INFO" >> ${runs}\ncat ${directory}/output\n[ ! -e ${directory}/fail ]`,
)
chmodSync(plugin, 0o755)

function prints(status: object | string): void {
  const output =
    typeof status === 'string' ? status : JSON.stringify({ kind: 'ExecCredential', apiVersion, status })
  writeFileSync(join(directory, 'output'), output)
  writeFileSync(runs, '')
}

const runCount = () => readFileSync(runs, 'utf8').split('\n').length - 1

function open(clock = new FakeClock(), more: Partial<KubeconfigExec> = {}): ExecCredentials {
  return new ExecCredentials({
    clock,
    environment: process.env,
    exec: {
      apiVersion,
      command: plugin,
      args: ['get-token'],
      env: [{ name: 'EXTRA', value: 'extra' }],
      provideClusterInfo: true,
      ...more,
    },
    cluster: {
      server: 'https://host',
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
    },
  })
}

describe('ExecCredentials', () => {
  it('runs the plugin once for many requests, with its arguments, environment and cluster information', async () => {
    prints({ token: 'one' })
    const credentials = open()
    const all = await Promise.all([1, 2, 3].map(() => credentials.headers()))
    assert.deepEqual(all[2], { authorization: 'Bearer one' })
    assert.deepEqual(credentials.headers(), { authorization: 'Bearer one' })
    assert.equal(runCount(), 1)
    const [argument, extra, ...info] = readFileSync(runs, 'utf8').trim().split(' ')
    assert.deepEqual([argument, extra], ['get-token', 'extra'])
    assert.deepEqual(JSON.parse(info.join(' ')), {
      kind: 'ExecCredential',
      apiVersion,
      spec: { interactive: false, cluster: { server: 'https://host', config: { audience: 'x' } } },
    })
  })

  it('runs the plugin again when its credentials expire or the server rejects them', async () => {
    const clock = new FakeClock(Date.UTC(2030, 0, 1))
    prints({ token: 'one', expirationTimestamp: '2030-01-01T01:00:00Z' })
    const credentials = open(clock)
    await credentials.headers()
    await clock.advance(3_599_000)
    await credentials.headers()
    assert.equal(runCount(), 1)
    await clock.advance(1_000)
    prints({ token: 'two' })
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer two' })
    assert.equal(await credentials.handleUnauthorized(), false)
    prints({ token: 'three' })
    assert.equal(await credentials.handleUnauthorized(), true)
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer three' })
  })

  it('notifies listeners when the plugin returns another certificate', async () => {
    const credentials = open()
    let changes = 0
    credentials.onCertificateChange(() => changes++)
    prints({ clientCertificateData: 'c1', clientKeyData: 'k1' })
    assert.deepEqual(await credentials.headers(), {})
    assert.equal((await credentials.current()).clientCertificateData, 'c1')
    assert.equal(changes, 0)
    prints({ clientCertificateData: 'c2', clientKeyData: 'k2' })
    assert.equal(await credentials.handleUnauthorized(), true)
    assert.equal(changes, 1)
  })

  const wrong: [what: string, output: object | string, says: RegExp][] = [
    ['text that is not JSON', 'hello s3cret', /did not print JSON$/],
    ['another kind', '{"kind":"Other"}', /printed Other/],
    ['another version', JSON.stringify({ kind: 'ExecCredential', apiVersion: 'v0', status: {} }), /of v0/],
    ['no credentials', {}, /neither a token nor a certificate/],
    ['a certificate without its key', { clientCertificateData: 'c' }, /without its key/],
    ['an invalid expiry', { token: 't', expirationTimestamp: 'soon' }, /invalid expirationTimestamp/],
  ]
  for (const [what, output, says] of wrong)
    it(`reports a plugin that prints ${what}`, async () => {
      prints(output)
      await assert.rejects(async () => open().headers(), { name: 'CredentialsError', message: says })
    })

  it('reports a failing plugin with its stderr and the install hint, but without its arguments', async () => {
    prints({ token: 't' })
    appendFileSync(join(directory, 'fail'), '')
    await assert.rejects(
      async () => open().headers(),
      error => {
        assert.ok(error instanceof CredentialsError)
        assert.match(error.message, /plugin failed \(1\)/)
        assert.doesNotMatch(error.message, /get-token/)
        return true
      },
    )
    rmSync(join(directory, 'fail'))
    const missing = open(new FakeClock(), { command: 'no-such-plugin', installHint: 'install it with care' })
    await assert.rejects(async () => missing.headers(), /not found[\s\S]*install it with care/)
  })
})
