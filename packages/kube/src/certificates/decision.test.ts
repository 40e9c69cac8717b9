// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { type CertificateBundle, emptyBundle, readCertificates } from './bundle.ts'
import { carryOutRenewal, decideRenewal } from './decision.ts'
import { issueAuthority, issueServer } from './issue.ts'
import { certificatePolicy } from './policy.ts'

const minute = 60_000
const day = 24 * 60 * minute
const now = Date.UTC(2026, 0, 1)
const policy = certificatePolicy({
  authorityName: 'Test-CA',
  organization: 'Test',
  serverNames: ['hook.system.svc', 'hook'],
})

let fresh: CertificateBundle
let foreign: CertificateBundle
before(async () => {
  fresh = await carryOutRenewal(emptyBundle, { kind: 'renew-all', why: 'test' }, policy, now)
  foreign = await carryOutRenewal(emptyBundle, { kind: 'renew-all', why: 'test' }, policy, now)
})

/** Each row: stored bundle, days since then, expected decision. This is the table of the specification. */
const rows: readonly [string, () => CertificateBundle, number, string, RegExp?][] = [
  ['nothing is stored', () => emptyBundle, 0, 'renew-all', /authority certificate is missing or unreadable/],
  ['all is fresh', () => fresh, 0, 'keep'],
  ['the server certificate has 91 days left', () => fresh, 365 - 91, 'keep'],
  ['the server certificate has 89 days left', () => fresh, 365 - 89, 'renew-server', /not valid on/],
  ['the server certificate has expired', () => fresh, 366, 'renew-server', /not valid on/],
  [
    'the server certificate is unreadable',
    () => ({ ...fresh, serverCert: 'x' }),
    0,
    'renew-server',
    /server certificate is missing or unreadable/,
  ],
  ['the server key is missing', () => ({ ...fresh, serverKey: '' }), 0, 'renew-server', /key is missing/],
  [
    'the server key does not match',
    () => ({ ...fresh, serverKey: foreign.serverKey }),
    0,
    'renew-server',
    /key/,
  ],
  [
    'the server certificate is of another authority that is not published',
    () => ({ ...fresh, serverCert: foreign.serverCert, serverKey: foreign.serverKey }),
    0,
    'renew-server',
    /not signed/,
  ],
  [
    'the authority is unreadable',
    () => ({ ...fresh, authorityCerts: 'x' }),
    0,
    'renew-all',
    /authority certificate is missing or unreadable/,
  ],
  [
    'the authority key is missing',
    () => ({ ...fresh, authorityKey: '' }),
    0,
    'publish-authority',
    /key is missing/,
  ],
  [
    'the authority key does not match',
    () => ({ ...fresh, authorityKey: foreign.authorityKey }),
    0,
    'publish-authority',
    /does not match its certificate/,
  ],
  ['authority and server have expired', () => fresh, 3651, 'renew-all', /authority is not valid/],
]

describe('decideRenewal', () => {
  for (const [situation, bundle, days, kind, why] of rows)
    it(`${situation}: ${kind}`, () => {
      const decision = decideRenewal(bundle(), policy, now + days * day)
      assert.equal(decision.kind, kind)
      if (why) assert.match((decision as { why: string }).why, why)
    })

  it('a server name that is not in the certificate: renew-server', () => {
    assert.equal(decideRenewal(fresh, { ...policy, serverNames: ['other.ns.svc'] }, now).kind, 'renew-server')
  })

  it('an authority with another name: publish-authority', () => {
    assert.equal(
      decideRenewal(fresh, { ...policy, authorityName: 'Other-CA' }, now).kind,
      'publish-authority',
    )
  })

  it('a server certificate that is not for servers: renew-server', async () => {
    // An authority certificate has the names but not the purpose.
    const wrong = await issueAuthority({
      commonName: 'x',
      names: policy.serverNames,
      notBefore: now - day,
      notAfter: now + 400 * day,
      key: 'ecdsa-p256',
    })
    const decision = decideRenewal({ ...fresh, serverCert: wrong.cert, serverKey: wrong.key }, policy, now)
    assert.equal(decision.kind, 'renew-server')
  })

  it('an authority that may not sign: renew-all', async () => {
    const authority = { cert: fresh.authorityCerts, key: fresh.authorityKey }
    const server = await issueServer(
      {
        commonName: 'Test-CA',
        names: ['Test-CA'],
        notBefore: now - day,
        notAfter: now + 400 * day,
        key: 'ecdsa-p256',
      },
      authority,
    )
    const decision = decideRenewal(
      { ...emptyBundle, authorityCerts: server.cert, authorityKey: server.key },
      policy,
      now,
    )
    assert.equal(decision.kind, 'renew-all')
  })
})

describe('a change of the authority', () => {
  it('publishes, moves and retires, each at its time', async () => {
    const at = now + (3650 - 89) * day
    // The server certificate was renewed meanwhile.
    const aged = await carryOutRenewal(fresh, { kind: 'renew-server', why: 'age' }, policy, at - 30 * day)
    const first = decideRenewal(aged, policy, at)
    assert.equal(first.kind, 'publish-authority')
    const published = await carryOutRenewal(aged, first, policy, at)
    assert.equal(published.serverCert, aged.serverCert)
    assert.deepEqual(readCertificates(published.authorityCerts).map(String).slice(1), [aged.authorityCerts])

    assert.deepEqual(decideRenewal(published, policy, at + minute), { kind: 'keep', until: at + 5 * minute })
    const second = decideRenewal(published, policy, at + 5 * minute)
    assert.equal(second.kind, 'move-server')
    const moved = await carryOutRenewal(published, second, policy, at + 5 * minute)
    assert.equal(moved.authorityCerts, published.authorityCerts)

    assert.deepEqual(decideRenewal(moved, policy, at + 10 * minute), {
      kind: 'keep',
      until: at + day + 5 * minute,
    })
    const third = decideRenewal(moved, policy, at + day + 5 * minute)
    assert.equal(third.kind, 'retire-authorities')
    const retired = await carryOutRenewal(moved, third, policy, at + day + 5 * minute)
    assert.equal(readCertificates(retired.authorityCerts).length, 1)
    assert.equal(retired.serverCert, moved.serverCert)
    assert.deepEqual(decideRenewal(retired, policy, at + day + 5 * minute), { kind: 'keep' })
  })

  it('does not wait if the served certificate does not work anyway', async () => {
    const published = await carryOutRenewal(fresh, { kind: 'publish-authority', why: 'test' }, policy, now)
    assert.equal(decideRenewal({ ...published, serverKey: '' }, policy, now + 1).kind, 'renew-server')
  })
})

describe('bundles that another program stored', () => {
  it('keeps them, even with RSA keys as PKCS#1 and the organization before the name', async () => {
    const rsa = { ...policy, key: 'rsa-2048' as const }
    const stored = await carryOutRenewal(emptyBundle, { kind: 'renew-all', why: 'test' }, rsa, now)
    assert.match(stored.authorityKey, /BEGIN RSA PRIVATE KEY/)
    assert.deepEqual(decideRenewal(stored, policy, now), { kind: 'keep' })
    // Its authority also signs the next server certificate, with any kind of key.
    const renewed = await carryOutRenewal(
      stored,
      { kind: 'renew-server', why: 'test' },
      policy,
      now + 300 * day,
    )
    assert.deepEqual(decideRenewal(renewed, policy, now + 300 * day), { kind: 'keep' })
  })

  it('returns a decision for any content', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const key = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
    for (const text of ['', '\0', 'x', key, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])
      assert.ok(
        decideRenewal(
          { serverCert: text, serverKey: text, authorityCerts: text, authorityKey: text },
          policy,
          now,
        ),
      )
  })
})

describe('certificatePolicy', () => {
  it('rejects a policy that would renew continuously', () => {
    const names = { authorityName: 'a', serverNames: ['b'] }
    assert.throws(
      () => certificatePolicy({ ...names, serverLifetimeMs: 60 * day }),
      /lifetime of certificates must be longer/,
    )
    assert.throws(
      () => certificatePolicy({ ...names, authorityLifetimeMs: 90 * day }),
      /lifetime of certificates must be longer/,
    )
    assert.throws(() => certificatePolicy({ ...names, serverNames: [] }), /needs a name/)
  })
})
