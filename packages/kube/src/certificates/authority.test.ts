// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { describe, it } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { createAuthority } from './authority.ts'

const authority = createAuthority('test authority')
const ca = new X509Certificate(authority.pair.cert)

describe('createAuthority', () => {
  it('creates a self-signed authority', () => {
    assert.equal(ca.ca, true)
    assert.equal(ca.subject, 'CN=test authority')
    assert.equal(ca.subjectAltName, undefined)
    assert.ok(ca.verify(ca.publicKey))
  })

  it('issues client certificates with the user as CN and every group as O', () => {
    const { cert, key } = authority.client({ user: 'jane', groups: ['dev', 'système:ops'] })
    const parsed = new X509Certificate(cert)
    assert.deepEqual(parsed.subject.split('\n').sort(), ['CN=jane', 'O=dev', 'O=système:ops'])
    assert.ok(parsed.checkIssued(ca) && parsed.verify(ca.publicKey))
    assert.ok(parsed.checkPrivateKey(createPrivateKey(key)))
    assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    assert.equal(parsed.ca, false)
  })

  it('issues serving certificates that are valid only for their names and addresses', () => {
    const parsed = new X509Certificate(authority.server('x', ['127.0.0.1', 'localhost', 'a.b.svc']).cert)
    assert.equal(parsed.checkIP('127.0.0.1'), '127.0.0.1')
    assert.equal(parsed.checkIP('127.0.0.2'), undefined)
    assert.equal(parsed.checkHost('a.b.svc'), 'a.b.svc')
    assert.equal(parsed.checkHost('other'), undefined)
    assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  })

  it('issues certificates that are valid now and have different serial numbers', () => {
    const [first, second] = [1, 2].map(() => new X509Certificate(authority.client({ user: 'x' }).cert))
    assert.ok(first!.validFromDate < new Date() && first!.validToDate > new Date())
    assert.notEqual(first!.serialNumber, second!.serialNumber)
  })

  it('uses the given clock: validity starts an hour before now and ends after a year', () => {
    const at = Date.UTC(2030, 0, 1)
    const { pair, server } = createAuthority('x', () => at)
    for (const { cert } of [pair, server('y', ['y'])]) {
      const { validFromDate, validToDate } = new X509Certificate(cert)
      assert.equal(validFromDate.toISOString(), '2029-12-31T23:00:00.000Z')
      assert.equal(validToDate.toISOString(), '2031-01-01T00:00:00.000Z')
    }
  })

  it('issues certificates that both sides of a TLS connection trust', async () => {
    const serving = authority.server('x', ['127.0.0.1'])
    const server = createServer({ ...serving, ca: authority.pair.cert, requestCert: true })
    server.on('secureConnection', (socket: TLSSocket) => {
      const { CN } = socket.getPeerCertificate().subject
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${socket.authorized ? CN : 'unauthenticated'}`)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const client = authority.client({ user: 'jane' })
    const outgoing = request({ host: '127.0.0.1', port, ca: authority.pair.cert, ...client })
    outgoing.end()
    const [response] = await once(outgoing, 'response')
    assert.equal((await response.toArray()).join(''), 'jane')
    server.close()
  })
})
