// SPDX-License-Identifier: Apache-2.0

// Checks the certificates of this folder with OpenSSL, an independent parser and verifier.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createAuthority } from './authority.ts'
import { type CertificateRequest, issueAuthority, issueServer, type KeyKind } from './issue.ts'
import type { KeyPair } from './x509.ts'

const missing = spawnSync('openssl', ['version']).status !== 0 && 'the openssl command is not installed'
const day = 86_400_000
const now = Date.now()

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'grove-openssl-'))
})
after(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function openssl(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  assert.equal(status, 0, `openssl ${args.join(' ')}: ${stderr}${stdout}`)
  return stdout
}

const textOf = ({ cert }: KeyPair) => openssl('x509', '-in', file('text.pem', cert), '-noout', '-text')

/** `-x509_strict` also rejects certificates that break RFC 5280 in ways that verification usually tolerates. */
function verify(authority: KeyPair, leaf: KeyPair, purpose: 'sslserver' | 'sslclient'): void {
  const [ca, cert] = [file('ca.pem', authority.cert), file('leaf.pem', leaf.cert)]
  openssl('verify', '-x509_strict', '-CAfile', ca, '-purpose', purpose, cert)
}

/** The lines below a heading of `openssl x509 -text`, without indentation. */
function below(text: string, heading: string): string {
  const lines = text.split('\n').map(line => line.trim())
  const at = lines.findIndex(line => line.startsWith(heading))
  assert.notEqual(at, -1, `no ${heading} in ${text}`)
  return lines[at + 1]!
}

const request = (key: KeyKind, commonName: string, names: readonly string[]): CertificateRequest => ({
  commonName,
  organizations: ['Test'],
  names,
  notBefore: now - day,
  notAfter: now + 365 * day,
  key,
})

describe('certificates read by OpenSSL', { skip: missing }, () => {
  for (const kind of ['ecdsa-p256', 'rsa-2048'] as const)
    it(`verifies a chain of ${kind} keys for servers only`, async () => {
      const authority = await issueAuthority(request(kind, 'Test-CA', ['Test-CA']))
      const leaf = await issueServer(
        request(kind, 'hook', ['hook', 'hook.ns.svc', '10.0.0.1', '::1']),
        authority,
      )
      verify(authority, leaf, 'sslserver')
      assert.throws(() => verify(authority, leaf, 'sslclient'), /unsuitable certificate purpose/)
      const other = await issueAuthority(request(kind, 'Test-CA', ['Test-CA']))
      assert.throws(() => verify(other, leaf, 'sslserver'), /unable to get local issuer|signature failure/)
    })

  it('prints the requested fields and extensions', async () => {
    const authority = await issueAuthority(request('ecdsa-p256', 'Test-CA', []))
    const leaf = await issueServer(
      request('ecdsa-p256', 'hook', ['hook.ns.svc', '10.0.0.1', '::1']),
      authority,
    )
    const [ca, text] = [textOf(authority), textOf(leaf)]
    assert.match(text, /Version: 3 \(0x2\)/)
    assert.match(text, /Issuer: O ?= ?Test, CN ?= ?Test-CA\n/)
    assert.match(text, /Subject: O ?= ?Test, CN ?= ?hook\n/)
    assert.match(text, /Signature Algorithm: ecdsa-with-SHA256/)
    assert.equal(below(text, 'X509v3 Key Usage: critical'), 'Digital Signature, Key Encipherment')
    assert.equal(below(text, 'X509v3 Extended Key Usage'), 'TLS Web Server Authentication')
    assert.equal(below(text, 'X509v3 Basic Constraints: critical'), 'CA:FALSE')
    assert.equal(
      below(text, 'X509v3 Subject Alternative Name'),
      'DNS:hook.ns.svc, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    )
    assert.equal(
      below(text, 'X509v3 Authority Key Identifier').replace('keyid:', ''),
      below(ca, 'X509v3 Subject Key Identifier'),
    )
    assert.equal(
      below(ca, 'X509v3 Key Usage: critical'),
      'Digital Signature, Key Encipherment, Certificate Sign',
    )
    assert.equal(below(ca, 'X509v3 Basic Constraints: critical'), 'CA:TRUE')
  })

  it('verifies the client and server certificates of a cluster authority', () => {
    const authority = createAuthority('cluster')
    const client = authority.client({ user: 'jane', groups: ['dev', 'système:ops'] })
    verify(authority.pair, client, 'sslclient')
    verify(authority.pair, authority.server('x', ['127.0.0.1']), 'sslserver')
    const subject = openssl(
      'x509',
      '-in',
      file('client.pem', client.cert),
      '-noout',
      '-subject',
      '-nameopt',
      'utf8,sep_comma_plus',
    )
    assert.equal(subject.trim(), 'subject=O=dev,O=système:ops,CN=jane')
  })

  it('reads the private keys, which match the certificates', async () => {
    for (const kind of ['ecdsa-p256', 'rsa-2048'] as const) {
      const pair = await issueAuthority(request(kind, 'Test-CA', []))
      const publicKey = openssl('x509', '-in', file('cert.pem', pair.cert), '-noout', '-pubkey')
      assert.equal(openssl('pkey', '-in', file('key.pem', pair.key), '-pubout'), publicKey)
    }
  })
})
