// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { krewManifest, platforms } from './krew-manifest.ts'

const release = { version: 'v0.1.0', url: 'https://example.com/grove/releases/download/v0.1.0' }

test('names every archive with its checksum', () => {
  const manifest = krewManifest({ ...release, archive: name => Buffer.from(name) }) as {
    spec: { homepage: string; platforms: { uri: string; sha256: string; bin: string }[] }
  }
  assert.equal(manifest.spec.homepage, 'https://example.com/grove/releases')
  assert.equal(manifest.spec.platforms.length, platforms.length)
  assert.equal(new Set(manifest.spec.platforms.map(({ sha256 }) => sha256)).size, platforms.length)
  const [first] = manifest.spec.platforms
  assert.equal(first?.uri, `${release.url}/kubectl-grove-linux-amd64.tar.gz`)
  assert.match(first?.sha256 ?? '', /^[0-9a-f]{64}$/)
})

test('fails if an archive is missing', () =>
  assert.throws(
    () =>
      krewManifest({
        ...release,
        archive: name => (name.includes('darwin') ? undefined : Buffer.from(name)),
      }),
    /the archive kubectl-grove-darwin-arm64\.tar\.gz is missing/,
  ))
