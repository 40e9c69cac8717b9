// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, before, beforeEach, describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { createRegistry } from '../metrics/index.ts'
import { FileCertificateSource } from './file-source.ts'
import { issueAuthority } from './issue.ts'
import type { KeyPair } from './x509.ts'

const request = { commonName: 'x', names: ['x'], notBefore: 0, notAfter: 4e12, key: 'ecdsa-p256' as const }
let one: KeyPair
let other: KeyPair
let directory: string
before(async () => {
  one = await issueAuthority(request)
  other = await issueAuthority(request)
})
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificates-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function source() {
  const clock = new FakeClock()
  const { log, lines } = captureLog()
  const registry = createRegistry()
  const files = new FileCertificateSource({
    certFile: join(directory, 'tls.crt'),
    keyFile: join(directory, 'tls.key'),
    clock,
    log,
    registry,
  })
  return { clock, files, lines, registry }
}

function write(pair: Partial<KeyPair>): void {
  if (pair.cert !== undefined) writeFileSync(join(directory, 'tls.crt'), pair.cert)
  if (pair.key !== undefined) writeFileSync(join(directory, 'tls.key'), pair.key)
}

describe('FileCertificateSource', () => {
  it('waits for both files and never returns an incomplete pair', async () => {
    const { files, lines, registry } = source()
    assert.equal(await files.read(), false)
    write({ cert: '', key: '' })
    assert.equal(await files.read(), false)
    write({ cert: one.cert, key: other.key })
    assert.equal(await files.read(), false)
    assert.equal(await files.read(), false)
    write(one)
    assert.equal(await files.read(), true)
    assert.deepEqual(files.current(), one)
    assert.equal(lines.length, 3, 'the same problem is logged once')
    assert.match(await registry.metrics(), /certwatcher_read_certificate_total 5\n/)
    assert.match(await registry.metrics(), /certwatcher_read_certificate_errors_total 4\n/)
  })

  it('keeps the last pair when files are deleted or become invalid', async () => {
    const { files } = source()
    write(one)
    await files.read()
    write({ cert: other.cert })
    assert.equal(await files.read(), true)
    assert.deepEqual(files.current(), one)
    rmSync(join(directory, 'tls.key'))
    assert.equal(await files.read(), true)
  })

  it('follows changes by file system events or polling, also through swapped links', async () => {
    const { clock, files } = source()
    const linked = join(directory, 'data')
    const stop = new AbortController()
    const running = files.run(stop.signal)
    const reported: string[] = []
    files.onChange(({ cert }) => reported.push(cert))
    for (const pair of [one, other, one]) {
      const target = mkdtempSync(join(directory, 'v'))
      writeFileSync(join(target, 'tls.crt'), pair.cert)
      writeFileSync(join(target, 'tls.key'), pair.key)
      symlinkSync(target, `${linked}.new`)
      renameSync(`${linked}.new`, linked)
      if (reported.length === 0)
        for (const file of ['tls.crt', 'tls.key']) symlinkSync(join(linked, file), join(directory, file))
      const wanted = reported.length + 1
      // Files are read outside the clock; the clock only triggers the reads.
      while (reported.length < wanted) await clock.advance(1_000)
    }
    assert.deepEqual(reported, [one.cert, other.cert, one.cert])
    stop.abort()
    await running
  })
})
