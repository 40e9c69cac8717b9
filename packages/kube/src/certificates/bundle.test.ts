// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { createAuthority } from './authority.ts'
import { readCertificates, trustProblem } from './bundle.ts'
import { certify } from './x509.ts'

const name = 'grove-operator.grove-system.svc'
const now = Date.UTC(2026, 0, 1)
const year = 365 * 24 * 3_600_000
const key = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const dates = { notBefore: now - 1, notAfter: now + year }

test("trustProblem agrees with Go's TLS client", () => {
  const root = createAuthority('root', () => now)
  const other = createAuthority('root', () => now)
  const intermediate = certify('authority', { commonName: 'middle', ...dates }, key(), root.pair)
  const leaf = root.server(name, [name]).cert
  const deepLeaf = certify('server', { commonName: name, names: [name], ...dates }, key(), intermediate).cert
  const clientOnly = root.client({ user: name }).cert
  const unsigned = /not signed by a valid authority/
  const rows: [what: string, served: string, bundle: string, expected: RegExp | undefined][] = [
    ['signed by the bundle', leaf, root.pair.cert, undefined],
    ['one of two authorities signed it', leaf, other.pair.cert + root.pair.cert, undefined],
    ['an authority of the same name with another key', leaf, other.pair.cert, unsigned],
    ['no authority', leaf, '', unsigned],
    ['through an intermediate that is served along', deepLeaf + intermediate.cert, root.pair.cert, undefined],
    ['through an intermediate that is missing', deepLeaf, root.pair.cert, unsigned],
    ['the intermediate is the bundle', deepLeaf, intermediate.cert, undefined],
    ['the certificate itself is the bundle', leaf, leaf, undefined],
    ['nothing served', '', root.pair.cert, /server certificate is missing or unreadable/],
    ['another name', root.server(name, ['elsewhere']).cert, root.pair.cert, /is not for grove-operator/],
    ['for clients only', clientOnly, root.pair.cert, /is not for grove-operator/],
  ]
  for (const [what, served, bundle, expected] of rows) {
    const problem = trustProblem(served, readCertificates(bundle), name, now)
    if (expected) assert.match(problem ?? 'trusted', expected, what)
    else assert.equal(problem, undefined, what)
  }
  const authorities = readCertificates(root.pair.cert)
  assert.match(trustProblem(leaf, authorities, name, now + 2 * year) ?? '', /is not valid on 2028-01-01/)
})
