// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { test } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { integer, oid, time, tlv } from './der.ts'
import { newAuthority, serviceAccount } from './pki.ts'

const authority = newAuthority('test authority')
const ca = new X509Certificate(authority.pair.certificate)

test('the authority signs itself', () => {
  assert.equal(ca.ca, true)
  assert.equal(ca.subject, 'CN=test authority')
  assert.ok(ca.verify(ca.publicKey))
})

test('a client certificate carries the user as CN and every group as O', () => {
  const { certificate, key } = authority.client({ user: 'jane', groups: ['dev', 'système:ops'] })
  const parsed = new X509Certificate(certificate)
  assert.deepEqual(parsed.subject.split('\n').sort(), ['CN=jane', 'O=dev', 'O=système:ops'])
  assert.ok(parsed.checkIssued(ca) && parsed.verify(ca.publicKey))
  assert.ok(parsed.checkPrivateKey(createPrivateKey(key)))
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.2'])
})

test('a serving certificate holds for its names and addresses only', () => {
  const parsed = new X509Certificate(authority.server('x', ['127.0.0.1', 'localhost', 'a.b.svc']).certificate)
  assert.equal(parsed.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal(parsed.checkHost('a.b.svc'), 'a.b.svc')
  assert.equal(parsed.checkHost('other'), undefined)
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1'])
})

test('certificates are valid now and have serial numbers of their own', () => {
  const [first, second] = [1, 2].map(() => new X509Certificate(authority.client({ user: 'x' }).certificate))
  assert.ok(first!.validFromDate < new Date() && first!.validToDate > new Date())
  assert.notEqual(first!.serialNumber, second!.serialNumber)
})

test('both sides of a TLS connection accept the certificates', async () => {
  const serving = authority.server('x', ['127.0.0.1'])
  const server = createServer({
    key: serving.key,
    cert: serving.certificate,
    ca: authority.pair.certificate,
    requestCert: true,
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const { CN } = socket.getPeerCertificate().subject
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${socket.authorized ? CN : 'nobody'}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = authority.client({ user: 'jane' })
  const { port } = server.address() as { port: number }
  const outgoing = request({
    host: '127.0.0.1',
    port,
    ca: authority.pair.certificate,
    cert: client.certificate,
    key: client.key,
  })
  outgoing.end()
  const [response] = await once(outgoing, 'response')
  assert.equal((await response.toArray()).join(''), 'jane')
  server.close()
})

test('a ServiceAccount is known by its name and its groups', () => {
  assert.deepEqual(serviceAccount('grove-system', 'operator'), {
    user: 'system:serviceaccount:grove-system:operator',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:grove-system'],
  })
})

test('DER: lengths, integers, object identifiers and times', () => {
  assert.equal(tlv(0x04, Buffer.alloc(127)).subarray(0, 2).toString('hex'), '047f')
  assert.equal(tlv(0x04, Buffer.alloc(128)).subarray(0, 3).toString('hex'), '048180')
  assert.equal(tlv(0x04, Buffer.alloc(300)).subarray(0, 4).toString('hex'), '0482012c')
  assert.equal(integer(Buffer.from([0, 0])).toString('hex'), '020100')
  assert.equal(integer(Buffer.from([0, 0x7f])).toString('hex'), '02017f')
  assert.equal(integer(Buffer.from([0x80])).toString('hex'), '02020080')
  assert.equal(oid('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302')
  assert.equal(time(new Date('2049-12-31T23:59:59Z')).toString('latin1').slice(2), '491231235959Z')
  assert.equal(time(new Date('2050-01-01T00:00:00Z')).toString('latin1').slice(2), '20500101000000Z')
})
