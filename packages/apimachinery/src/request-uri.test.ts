// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestUri } from './request-uri.ts'

test('an absolute URI has scheme, host, path and query', () => {
  assert.deepEqual(parseRequestUri('HTTPS://me@example.com:80/a b?x=1'), {
    scheme: 'https',
    host: 'example.com:80',
    hostname: 'example.com',
    port: '80',
    path: '/a%20b',
    query: 'x=1',
  })
  assert.equal(parseRequestUri('http://[::1]:80/')?.hostname, '::1')
  assert.equal(parseRequestUri('/only/path')?.path, '/only/path')
})

test('rejects relative references and invalid authorities', () => {
  for (const text of [
    '',
    'a/b',
    '../a',
    '//',
    'https://a:b:c/',
    'http://a b/',
    '/%zz',
    'http://[::1',
    '\n',
  ]) {
    const parsed = parseRequestUri(text)
    if (text === '//') assert.equal(parsed?.path, '//')
    else assert.equal(parsed, undefined, text)
  }
})
