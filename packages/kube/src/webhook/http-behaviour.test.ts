// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { RequestOptions } from 'node:https'
import { afterEach, before, beforeEach, describe, it } from 'node:test'
import type { KeyPair } from '../certificates/index.ts'
import { newAuthority, review, TestServer } from '../testing/webhook-server.ts'
import { allowed, denied, patched } from './admission.ts'
import { validating } from './review.ts'

let hook: TestServer
let authority: KeyPair
before(async () => {
  authority = await newAuthority()
})
beforeEach(async () => {
  hook = await TestServer.start(authority)
})
afterEach(() => hook.stop())

describe('a webhook', () => {
  for (const apiVersion of ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'])
    it(`responds to ${apiVersion} with the same version and the uid of the request`, async () => {
      hook.server.handle('/a', () => allowed())
      const response = await hook.post('/a', review({}, apiVersion))
      assert.equal(response.status, 200)
      assert.equal(response.apiVersion, apiVersion)
      assert.deepEqual(response.response, { uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 } })
    })

  it('returns warnings with any decision, and a reason for a denial', async () => {
    hook.server.handle('/yes', () => allowed({ warnings: ['old field'] }))
    hook.server.handle('/no', () => denied('spec.replicas: Invalid value: 0', { warnings: ['old field'] }))
    assert.deepEqual((await hook.post('/yes', review())).response.warnings, ['old field'])
    const { response } = await hook.post('/no', review())
    assert.deepEqual(response, {
      uid: 'u-1',
      allowed: false,
      status: { metadata: {}, message: 'spec.replicas: Invalid value: 0', reason: 'Forbidden', code: 403 },
      warnings: ['old field'],
    })
  })

  it('returns changes as a base64 JSON patch, and no patch without changes', async () => {
    hook.server.handle('/a', ({ object }) => patched(object, { spec: { replicas: 1, minAvailable: 1 } }))
    hook.server.handle('/b', ({ object }) => patched(object, structuredClone(object)))
    const { response } = await hook.post('/a', review())
    assert.equal(response.patchType, 'JSONPatch')
    assert.deepEqual(JSON.parse(Buffer.from(response.patch!, 'base64').toString()), [
      { op: 'add', path: '/spec/minAvailable', value: 1 },
    ])
    const unchanged = (await hook.post('/b', review())).response
    assert.equal(unchanged.allowed, true)
    assert.equal(unchanged.patch, undefined)
    assert.equal(unchanged.patchType, undefined)
  })

  for (const path of ['/nowhere', '//'])
    it(`responds with 404 to the unknown path ${path}`, async () => {
      const response = await hook.post(path, review())
      assert.equal(response.status, 404)
      assert.equal(response.body, '404 page not found\n')
    })

  const bad: readonly [string, string | Buffer | undefined, RequestOptions, number, RegExp][] = [
    ['an empty body', undefined, {}, 400, /^request body is empty$/],
    ['a GET request', undefined, { method: 'GET' }, 400, /^request body is empty$/],
    ['invalid JSON', '{', {}, 400, /json parse error/],
    ['no object', '[]', {}, 400, /no request/],
    [
      'another kind',
      '{"apiVersion":"v1","kind":"Pod"}',
      {},
      400,
      /no kind "Pod" is registered for version "v1"/,
    ],
    ['no request', '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', {}, 400, /no request/],
    [
      'another content type',
      review(),
      { headers: { 'content-type': 'text/plain' } },
      400,
      /^contentType=text\/plain, expected application\/json$/,
    ],
    [
      'a content type with parameters',
      review(),
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
      400,
      /^contentType=application\/json; charset=utf-8, expected application\/json$/,
    ],
    ['no content type', review(), { headers: {} }, 400, /^contentType=, expected application\/json$/],
    [
      '7 MiB',
      Buffer.alloc(7 * 1024 * 1024, ' '),
      {},
      413,
      /^request entity is too large; limit is 7340032 bytes$/,
    ],
    ['far more', Buffer.alloc(20 * 1024 * 1024, ' '), {}, 413, /too large/],
    [
      'one byte less than 7 MiB, of blanks',
      Buffer.alloc(7 * 1024 * 1024 - 1, ' '),
      {},
      400,
      /json parse error/,
    ],
  ]
  for (const [what, body, options, code, message] of bad)
    it(`responds to ${what} with HTTP 200 and code ${code} inside, and keeps serving`, async () => {
      hook.server.handle('/a', () => allowed())
      const response = await hook.post('/a', body, options)
      assert.equal(response.status, 200)
      assert.equal(response.response.allowed, false)
      assert.equal(response.response.status.code, code)
      assert.match(response.response.status.message!, message)
      assert.equal((await hook.post('/a', review())).response.allowed, true)
    })

  it('that validates rejects unknown operations', async () => {
    hook.server.handle(
      '/a',
      validating(() => allowed()),
    )
    for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])
      assert.equal((await hook.post('/a', review({ operation }))).response.allowed, true)
    const { response } = await hook.post('/a', review({ operation: 'PATCH' }))
    assert.deepEqual([response.status.code, response.status.message], [400, 'unknown operation "PATCH"'])
    assert.match(
      (await hook.post('/a', review({ operation: undefined }))).response.status.message!,
      /unknown operation ""/,
    )
  })

  it('responds with code 500 if its handler throws, and keeps serving', async () => {
    hook.server.handle('/a', () => {
      throw new TypeError('cannot read properties of undefined')
    })
    hook.server.handle('/b', async () => {
      throw 'a string'
    })
    const { response } = await hook.post('/a', review())
    assert.equal(response.uid, 'u-1')
    assert.deepEqual(
      [response.status.code, response.status.message],
      [500, 'panic: cannot read properties of undefined [recovered]'],
    )
    assert.equal((await hook.post('/b', review())).response.status.message, 'panic: a string [recovered]')
    assert.match(await hook.registry.metrics(), /controller_runtime_webhook_panics_total 2\n/)
  })

  it('truncates messages that are megabytes long', async () => {
    hook.server.handle('/a', () => denied(`no: ${'x'.repeat(4_000_000)}`))
    const { body, response } = await hook.post('/a', review())
    assert.ok(body.length < 200_000, `${body.length} characters`)
    assert.match(response.status.message!, /^no: x+… \(4000004 characters\)$/)
  })

  it('responds to requests with unexpected values', async () => {
    hook.server.handle('/a', () => allowed())
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const [request, kind] of [
      [`{"uid":${deep},"operation":${deep},"name":{"toString":1}}`, '"AdmissionReview"'],
      ['{}', '{"toString":1}'],
    ]) {
      const response = await hook.post('/a', `{"kind":${kind},"request":${request}}`)
      assert.equal(response.status, 200)
      assert.equal(response.response.uid, '')
    }
  })

  it("responds before the client's time-out if its handler hangs", async () => {
    let aborted = false
    hook.server.handle('/a', (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    })
    const { response } = await hook.post('/a?timeout=5ms', review())
    assert.equal(response.status.code, 504)
    assert.equal(aborted, true)
  })

  it('counts its requests', async () => {
    hook.server.handle('/a', () => allowed())
    hook.server.handle('/quiet', () => allowed())
    await hook.post('/a', review())
    await hook.post('/a', undefined)
    const text = await hook.registry.metrics()
    for (const line of [
      'controller_runtime_webhook_requests_total{webhook="/a",code="200"} 2',
      'controller_runtime_webhook_requests_total{webhook="/quiet",code="500"} 0',
      'controller_runtime_webhook_requests_in_flight{webhook="/a"} 0',
      'controller_runtime_webhook_latency_seconds_count{webhook="/a"} 2',
    ])
      assert.ok(text.includes(`${line}\n`), line)
  })
})
