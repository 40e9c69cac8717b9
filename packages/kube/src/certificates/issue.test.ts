// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { type CertificateRequest, issueAuthority, issueServer, type KeyKind } from './issue.ts'

const day = 86_400_000
const now = Date.UTC(2026, 5, 1)
const authorityRequest = (key: KeyKind): CertificateRequest => ({
  commonName: 'Test-CA',
  organizations: ['Test'],
  names: ['Test-CA'],
  notBefore: now,
  notAfter: now + 3650 * day,
  key,
})
const serverRequest = (key: KeyKind): CertificateRequest => ({
  commonName: 'hook.system.svc',
  names: ['hook.system.svc', 'hook'],
  notBefore: now,
  notAfter: now + 365 * day,
  key,
})

for (const kind of ['ecdsa-p256', 'rsa-2048'] as const)
  describe(`certificates with ${kind} keys`, () => {
    it('issues a chain that node:crypto verifies', async () => {
      const authority = await issueAuthority(authorityRequest(kind))
      const server = await issueServer(serverRequest(kind), authority)
      const ca = new X509Certificate(authority.cert)
      const leaf = new X509Certificate(server.cert)
      assert.equal(ca.ca, true)
      assert.equal(leaf.ca, false)
      assert.equal(ca.subject, 'O=Test\nCN=Test-CA')
      assert.equal(leaf.issuer, ca.subject)
      assert.ok(leaf.checkIssued(ca))
      assert.ok(leaf.verify(ca.publicKey))
      assert.ok(ca.verify(ca.publicKey))
      assert.ok(leaf.checkPrivateKey(createPrivateKey(server.key)))
      assert.equal(leaf.checkHost('hook'), 'hook')
      assert.equal(leaf.checkHost('other'), undefined)
      assert.equal(leaf.subjectAltName, 'DNS:hook.system.svc, DNS:hook')
      assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
      assert.equal(leaf.validFromDate.getTime(), now)
      assert.equal(leaf.validToDate.getTime(), now + 365 * day)
      assert.match(server.key, kind === 'rsa-2048' ? /BEGIN RSA PRIVATE KEY/ : /BEGIN PRIVATE KEY/)
    })
  })

describe('issued certificates', () => {
  it('have random positive serial numbers', async () => {
    const serials = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const serial = new X509Certificate((await issueAuthority(authorityRequest('ecdsa-p256'))).cert)
        .serialNumber
      assert.match(serial, /^[0-7][0-9A-F]{31}$/)
      serials.add(serial)
    }
    assert.equal(serials.size, 20)
  })

  it('are signed by an authority with another kind of key', async () => {
    const authority = await issueAuthority(authorityRequest('rsa-2048'))
    const server = await issueServer(serverRequest('ecdsa-p256'), authority)
    assert.ok(new X509Certificate(server.cert).verify(new X509Certificate(authority.cert).publicKey))
  })

  it('encode IPv4 and IPv6 addresses as addresses', async () => {
    const authority = await issueAuthority(authorityRequest('ecdsa-p256'))
    const names = [
      '10.0.0.1',
      '::1',
      '2001:db8::7:0:1',
      'fe80::1%eth0',
      '::ffff:192.0.2.1',
      '1:2:3:4:5:6:7:8',
    ]
    const { cert } = await issueServer({ ...serverRequest('ecdsa-p256'), names }, authority)
    const leaf = new X509Certificate(cert)
    for (const name of [...names.filter(one => !one.includes('%')), 'fe80::1', '2001:db8:0::7:0:1'])
      assert.notEqual(leaf.checkIP(name), undefined, name)
    assert.equal(leaf.checkIP('::2'), undefined)
    assert.doesNotMatch(leaf.subjectAltName ?? '', /DNS:/)
  })

  it('may expire after 2050', async () => {
    const authority = await issueAuthority({
      ...authorityRequest('ecdsa-p256'),
      notAfter: Date.UTC(2061, 0, 1),
    })
    assert.equal(new X509Certificate(authority.cert).validToDate.getTime(), Date.UTC(2061, 0, 1))
  })
})
