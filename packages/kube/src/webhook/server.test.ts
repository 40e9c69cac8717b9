// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { Agent, type RequestOptions, request } from 'node:https'
import { before, beforeEach, describe, it } from 'node:test'
import { connect } from 'node:tls'
import { issueAuthority, issueServer, type KeyPair, MemoryCertificateSource } from '../certificates/index.ts'
import { systemClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { createRegistry, type Registry } from '../metrics/index.ts'
import { allowed, denied, patched } from './admission.ts'
import { validating } from './review.ts'
import { WebhookServer } from './server.ts'

const never = new AbortController().signal
const host = '127.0.0.1'
const name = 'hook.system.svc'
const lifetime = {
  notBefore: Date.now() - 3_600_000,
  notAfter: Date.now() + 86_400_000,
  key: 'ecdsa-p256' as const,
}
const newAuthority = () => issueAuthority({ commonName: 'Test-CA', dnsNames: ['Test-CA'], ...lifetime })
const newServerCertificate = (authority: KeyPair) =>
  issueServer({ commonName: name, dnsNames: [name], ...lifetime }, authority)

let authority: KeyPair
let certificates: MemoryCertificateSource
let registry: Registry
let server: WebhookServer
let agent: Agent
before(async () => {
  authority = await newAuthority()
})
beforeEach(async () => {
  certificates = new MemoryCertificateSource()
  certificates.set(await newServerCertificate(authority))
  registry = createRegistry()
  server = new WebhookServer({
    host,
    port: 0,
    certificates,
    clock: systemClock,
    registry,
    log: captureLog().log,
  })
  agent = new Agent({ keepAlive: true })
  await server.start(never)
})
const stopped = async () => {
  agent.destroy()
  await server.stop()
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly response: {
    uid: string
    allowed: boolean
    status: { code: number; message?: string; reason?: string }
    patch?: string
    patchType?: string
    warnings?: string[]
  }
  readonly apiVersion: string
}

function post(
  path: string,
  body: string | Buffer | undefined,
  options: RequestOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host,
        port: server.port,
        servername: name,
        ca: authority.cert,
        path,
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json' },
        ...options,
      },
      answer => {
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const json = answer.headers['content-type'] === 'application/json' ? JSON.parse(text) : {}
          resolve({ status: answer.statusCode ?? 0, body: text, ...json })
        })
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

const review = (over: object = {}, apiVersion = 'admission.k8s.io/v1') =>
  JSON.stringify({
    apiVersion,
    kind: 'AdmissionReview',
    request: {
      uid: 'u-1',
      operation: 'CREATE',
      kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet' },
      resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliquesets' },
      userInfo: { username: 'alice' },
      object: { spec: { replicas: 1 } },
      ...over,
    },
  })

/** One server per test: each registers what it needs. */
function test(sentence: string, body: () => Promise<void>): void {
  it(sentence, async () => {
    try {
      await body()
    } finally {
      await stopped()
    }
  })
}

describe('a webhook', () => {
  for (const apiVersion of ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'])
    test(`answers ${apiVersion} with the same version and the uid of the request`, async () => {
      server.handle('/a', () => allowed())
      const answer = await post('/a', review({}, apiVersion))
      assert.equal(answer.status, 200)
      assert.equal(answer.apiVersion, apiVersion)
      assert.deepEqual(answer.response, { uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 } })
    })

  test('gives warnings whether it allows or not, and says why it does not', async () => {
    server.handle('/yes', () => allowed({ warnings: ['old field'] }))
    server.handle('/no', () => denied('spec.replicas: Invalid value: 0', { warnings: ['old field'] }))
    assert.deepEqual((await post('/yes', review())).response.warnings, ['old field'])
    const { response } = await post('/no', review())
    assert.deepEqual(response, {
      uid: 'u-1',
      allowed: false,
      status: { metadata: {}, message: 'spec.replicas: Invalid value: 0', reason: 'Forbidden', code: 403 },
      warnings: ['old field'],
    })
  })

  test('sends changes as a base64 JSON patch, and none when nothing changes', async () => {
    server.handle('/a', ({ object }) => patched(object, { spec: { replicas: 1, minAvailable: 1 } }))
    server.handle('/b', ({ object }) => patched(object, structuredClone(object)))
    const { response } = await post('/a', review())
    assert.equal(response.patchType, 'JSONPatch')
    assert.deepEqual(JSON.parse(Buffer.from(response.patch!, 'base64').toString()), [
      { op: 'add', path: '/spec/minAvailable', value: 1 },
    ])
    const unchanged = (await post('/b', review())).response
    assert.equal(unchanged.allowed, true)
    assert.equal(unchanged.patch, undefined)
    assert.equal(unchanged.patchType, undefined)
  })

  test('answers 404 for a path it does not know', async () => {
    const answer = await post('/nowhere', review())
    assert.equal(answer.status, 404)
    assert.equal(answer.body, '404 page not found\n')
  })

  const bad: readonly [string, string | Buffer | undefined, RequestOptions, number, RegExp][] = [
    ['nothing', undefined, {}, 400, /^request body is empty$/],
    ['no JSON', '{', {}, 400, /json parse error/],
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
    test(`sent ${what} answers HTTP 200 with code ${code} inside, and goes on`, async () => {
      server.handle('/a', () => allowed())
      const answer = await post('/a', body, options)
      assert.equal(answer.status, 200)
      assert.equal(answer.response.allowed, false)
      assert.equal(answer.response.status.code, code)
      assert.match(answer.response.status.message!, message)
      assert.equal((await post('/a', review())).response.allowed, true)
    })

  test('that validates refuses operations that it does not know', async () => {
    server.handle(
      '/a',
      validating(() => allowed()),
    )
    for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])
      assert.equal((await post('/a', review({ operation }))).response.allowed, true)
    const { response } = await post('/a', review({ operation: 'PATCH' }))
    assert.deepEqual([response.status.code, response.status.message], [400, 'unknown operation "PATCH"'])
    assert.match(
      (await post('/a', review({ operation: undefined }))).response.status.message!,
      /unknown operation ""/,
    )
  })

  test('whose handler throws answers code 500, and lives', async () => {
    server.handle('/a', () => {
      throw new TypeError('cannot read properties of undefined')
    })
    server.handle('/b', async () => {
      throw 'a string'
    })
    const { response } = await post('/a', review())
    assert.equal(response.uid, 'u-1')
    assert.deepEqual(
      [response.status.code, response.status.message],
      [500, 'panic: cannot read properties of undefined [recovered]'],
    )
    assert.equal((await post('/b', review())).response.status.message, 'panic: a string [recovered]')
    assert.match(await registry.metrics(), /controller_runtime_webhook_panics_total 2\n/)
  })

  test('whose handler hangs answers when nobody waits any more', async () => {
    let aborted = false
    server.handle('/a', (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    })
    const { response } = await post('/a?timeout=5ms', review())
    assert.equal(response.status.code, 504)
    assert.equal(aborted, true)
  })

  test('counts its requests', async () => {
    server.handle('/a', () => allowed())
    server.handle('/quiet', () => allowed())
    await post('/a', review())
    await post('/a', undefined)
    const text = await registry.metrics()
    for (const line of [
      'controller_runtime_webhook_requests_total{webhook="/a",code="200"} 2',
      'controller_runtime_webhook_requests_total{webhook="/quiet",code="500"} 0',
      'controller_runtime_webhook_requests_in_flight{webhook="/a"} 0',
      'controller_runtime_webhook_latency_seconds_count{webhook="/a"} 2',
    ])
      assert.ok(text.includes(`${line}\n`), line)
  })
})

describe('the webhook server', () => {
  test('refuses what is older than TLS 1.2', async () => {
    const error = await new Promise<Error>((resolve, reject) => {
      const socket = connect({
        host,
        port: server.port!,
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
        ca: authority.cert,
      })
      socket.on('error', resolve)
      socket.on('secureConnect', () => reject(new Error('connected')))
    })
    assert.ok(error)
  })

  test('serves a replaced certificate to new connections and drops none that is open', async () => {
    let calls = 0
    server.handle('/a', async () => {
      calls++
      await new Promise(resolve => setImmediate(resolve))
      return allowed()
    })
    const next = await newAuthority()
    const trusted = authority.cert + next.cert
    const replacements = await Promise.all(
      Array.from({ length: 20 }, (_, i) => newServerCertificate(i % 2 ? authority : next)),
    )
    const serials = new Set<string>()
    const failures: unknown[] = []
    let sent = 0
    let answered = 0
    // Half of the requests come over kept connections, half over new ones, as from several API servers.
    const fresh = new Agent({ keepAlive: false, maxCachedSessions: 0 })
    const client = async (over: Agent) => {
      while (sent < 1_000) {
        sent++
        try {
          const { response } = await post('/a', review(), { ca: trusted, agent: over })
          assert.equal(response.allowed, true)
        } catch (error) {
          failures.push(error)
        }
        if (++answered % 50 === 0) {
          const pair = replacements.pop()
          if (pair) certificates.set(pair)
          serials.add(await presentedSerial(trusted))
        }
      }
    }
    await Promise.all([
      ...Array.from({ length: 5 }, () => client(agent)),
      ...Array.from({ length: 5 }, () => client(fresh)),
    ])
    fresh.destroy()
    assert.deepEqual(failures, [])
    assert.ok(calls >= 1_000)
    assert.ok(serials.size >= 10, `${serials.size} different certificates were presented`)
  })

  test('keeps the certificate it has when the next one is unusable', async () => {
    server.handle('/a', () => allowed())
    certificates.set({ cert: 'nonsense', key: 'nonsense' })
    assert.equal((await post('/a', review())).response.allowed, true)
  })

  test('finishes open requests when it stops, and takes no new ones', async () => {
    const arrived = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    server.handle('/slow', async () => {
      arrived.resolve()
      await finish.promise
      return allowed()
    })
    const open = post('/slow', review())
    await arrived.promise
    const { port } = server
    const stopping = server.stop()
    await assert.rejects(post('/slow', review(), { port, agent: new Agent() }))
    finish.resolve()
    assert.equal((await open).response.allowed, true)
    await stopping
  })

  test('refuses two handlers for one path', async () => {
    server.handle('/a', () => allowed())
    assert.throws(() => server.handle('/a', () => allowed()), /two webhooks/)
  })
})

describe('the readiness of the webhook server', () => {
  test('is tried by a connection', async () => {
    await server.check()
    await server.stop()
    await assert.rejects(server.check(), { message: 'webhook server has not been started yet' })
  })

  test('waits for a first certificate instead of failing', async () => {
    const empty = new MemoryCertificateSource()
    const waiting = new WebhookServer({ host, port: 0, certificates: empty, clock: systemClock })
    const starting = waiting.start(never)
    await assert.rejects(waiting.check(), /has not been started yet/)
    empty.set(await newServerCertificate(authority))
    await starting
    await waiting.check()
    await waiting.stop()
  })

  test('stops waiting for a certificate when told', async () => {
    const stop = new AbortController()
    const waiting = new WebhookServer({
      host,
      port: 0,
      certificates: new MemoryCertificateSource(),
      clock: systemClock,
    })
    const starting = waiting.start(stop.signal)
    stop.abort(new Error('stopped'))
    await assert.rejects(starting, /stopped/)
  })

  test('tells when it cannot listen', async () => {
    const second = new WebhookServer({ host, port: server.port!, certificates, clock: systemClock })
    await assert.rejects(second.start(never), /EADDRINUSE/)
  })
})

function presentedSerial(ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: server.port!, servername: name, ca })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      const serial = new X509Certificate(socket.getPeerCertificate(true).raw).serialNumber
      socket.end()
      resolve(serial)
    })
  })
}
