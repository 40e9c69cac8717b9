// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { proxyFor } from './environment-proxy.ts'

const rows: [server: string, environment: Record<string, string>, wanted: string | undefined][] = [
  ['https://a.example.com:6443', {}, undefined],
  ['https://a.example.com:6443', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128'],
  ['https://a.example.com:6443', { https_proxy: 'p:3128' }, 'http://p:3128'],
  ['https://a.example.com:6443', { HTTP_PROXY: 'http://p' }, undefined],
  ['http://a.example.com', { HTTP_PROXY: 'http://p' }, 'http://p'],
  ['https://127.0.0.1:6443', { HTTPS_PROXY: 'http://p' }, undefined],
  ['https://localhost:6443', { HTTPS_PROXY: 'http://p' }, undefined],
  ['https://[::1]:6443', { HTTPS_PROXY: 'http://p' }, undefined],
  ['https://a.example.com', { HTTPS_PROXY: 'http://p', NO_PROXY: '*' }, undefined],
  ['https://a.example.com', { HTTPS_PROXY: 'http://p', NO_PROXY: 'b.com, example.com' }, undefined],
  ['https://a.example.com', { HTTPS_PROXY: 'http://p', no_proxy: '.example.com' }, undefined],
  ['https://example.com', { HTTPS_PROXY: 'http://p', NO_PROXY: '.example.com' }, 'http://p'],
  ['https://an-example.com', { HTTPS_PROXY: 'http://p', NO_PROXY: 'example.com' }, 'http://p'],
  ['https://a.example.com:6443', { HTTPS_PROXY: 'http://p', NO_PROXY: 'example.com:443' }, 'http://p'],
  ['https://a.example.com:6443', { HTTPS_PROXY: 'http://p', NO_PROXY: 'example.com:6443' }, undefined],
  ['https://10.1.2.3', { HTTPS_PROXY: 'http://p', NO_PROXY: '10.0.0.0/8' }, undefined],
  ['https://10.1.2.3', { HTTPS_PROXY: 'http://p', NO_PROXY: '10.1.2.3' }, undefined],
  ['https://11.1.2.3', { HTTPS_PROXY: 'http://p', NO_PROXY: '10.0.0.0/8' }, 'http://p'],
  ['https://[fd00::1]', { HTTPS_PROXY: 'http://p', NO_PROXY: 'fd00::/8' }, undefined],
]

describe('proxyFor', () => {
  for (const [server, environment, wanted] of rows)
    it(`${server} with ${JSON.stringify(environment)}: ${wanted ?? 'none'}`, () => {
      assert.equal(proxyFor(server, environment), wanted)
    })
})
