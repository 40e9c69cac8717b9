// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { test } from 'node:test'
import { serveHttps } from './https.ts'

test('a request with a warning in any language gets a response and the warning', async () => {
  const warning = '299 - "unknown field \\"spec.ÄÖ-字-🦊\\""'
  const front = await serveHttps({
    handle: async () => ({ status: 200, headers: { warning: [warning] }, body: '{}' }),
  })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(front.url, { ca: front.certificates.authority }, resolve).once('error', reject)
    })
    response.resume()
    assert.equal(response.statusCode, 200)
    assert.equal(Buffer.from(String(response.headers.warning), 'latin1').toString('utf8'), warning)
  } finally {
    await front.close()
  }
})
