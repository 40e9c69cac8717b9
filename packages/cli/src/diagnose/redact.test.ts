// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { redacted, redactedText, removed } from './redact.ts'

describe('text without credentials', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLWJ5dGVz'
  const rows: [string, string][] = [
    ['Authorization: Bearer abcdefgh12345678', `Authorization: Bearer ${removed}`],
    [`token ${jwt} expired`, `token ${removed} expired`],
    ['pull hf_abcdefghijklmnopqrstu failed', `pull ${removed} failed`],
    ['https://user:hunter22@registry.example/x', `https://${removed}@registry.example/x`],
    ['serve --api-key=abc123 --port=80', `serve --api-key=${removed} --port=80`],
    ['{"password":"hunter22","user":"a"}', `{"password":"${removed}","user":"a"}`],
    ['DB_PASSWORD=hunter22', `DB_PASSWORD=${removed}`],
    [`-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----`, removed],
    ['PodClique llm-0-router is not ready', 'PodClique llm-0-router is not ready'],
  ]
  for (const [text, expected] of rows)
    test(JSON.stringify(text), () => assert.equal(redactedText(text), expected))
})

test('keeps names and references of environment variables, and removes their values', () => {
  const env = [
    { name: 'MODEL', value: 'private-model' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'tokens', key: 'hub' } } },
  ]
  assert.deepEqual(redacted({ spec: { containers: [{ env }] } }), {
    spec: {
      containers: [{ env: [{ name: 'MODEL', value: removed }, { ...env[1] }] }],
    },
  })
})

test('removes the value after a flag that names a secret', () =>
  assert.deepEqual(redacted({ args: ['--hub-token', 'abc', '--port', '80'] }), {
    args: ['--hub-token', removed, '--port', '80'],
  }))

test('no value of an environment variable survives, at any depth', () => {
  const depth = fc.array(fc.constantFrom('spec', 'data', 'template', 'list'), { maxLength: 6 })
  fc.assert(
    fc.property(depth, fc.stringMatching(/^[a-z0-9]{12,20}$/), (path, secret) => {
      const inner: unknown = { env: [{ name: 'A', value: `x${secret}` }] }
      const object = path.reduce<unknown>(
        (value, key) => (key === 'list' ? [value] : { [key]: value }),
        inner,
      )
      assert.ok(!JSON.stringify(redacted(object)).includes(secret))
    }),
  )
})
