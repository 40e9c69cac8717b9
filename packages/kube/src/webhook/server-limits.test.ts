// SPDX-License-Identifier: Apache-2.0

// Tests the limits of the webhook server over real sockets.
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { afterEach, before, describe, it } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import type { KeyPair } from '../certificates/index.ts'
import { host, newAuthority, review, TestServer } from '../testing/webhook-server.ts'
import { allowed } from './admission.ts'
import { decisionMs, reviewLimitBytes } from './limits.ts'
import type { ServerLimits } from './server.ts'

let authority: KeyPair
before(async () => {
  authority = await newAuthority()
})

let hook: TestServer
const sockets: TLSSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await hook.stop()
})

async function start(limits: Partial<ServerLimits> = {}): Promise<void> {
  hook = await TestServer.start(authority, limits)
  hook.server.handle('/a', () => allowed())
}

/** A raw connection. */
async function open(): Promise<{ socket: TLSSocket; received: () => string; ended: Promise<unknown> }> {
  const socket = connect({ host, port: hook.server.port!, rejectUnauthorized: false })
  sockets.push(socket)
  let text = ''
  socket.on('data', chunk => (text += chunk))
  socket.on('error', () => {})
  const ended = new Promise(resolve => socket.once('close', resolve))
  await Promise.race([new Promise(resolve => socket.once('secureConnect', resolve)), ended])
  return { socket, received: () => text, ended }
}

const head = (length: number) =>
  `POST /a HTTP/1.1\r\nhost: hook\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve))
}

describe('the webhook server', () => {
  const impatient = { connectionsCheckingIntervalMs: 20, headersTimeoutMs: 50, requestTimeoutMs: 200 }

  it('closes connections with an incomplete request', async () => {
    await start(impatient)
    const { socket, received, ended } = await open()
    socket.write(head(100))
    socket.write('{')
    await ended
    assert.match(received(), /^HTTP\/1\.1 408 /)
    assert.equal((await hook.post('/a', review(), { agent: new Agent() })).response.allowed, true)
  })

  it('closes connections that send no headers, or nothing at all', async () => {
    await start({ ...impatient, requestTimeoutMs: 60_000 })
    const slow = await open()
    slow.socket.write('POST /a HTTP/1.1\r\nhost:')
    const silent = await open()
    await slow.ended
    await silent.ended
  })

  it('limits the number of connections', async () => {
    await start({ maxConnections: 2 })
    await open()
    const second = await open()
    const third = await open()
    await third.ended
    second.socket.destroy()
    await second.ended
    // The server notices a moment later that the second connection is closed.
    const post = () => hook.post('/a', review(), { agent: new Agent() }).catch(() => undefined)
    let response = await post()
    while (!response) response = await post()
    assert.equal(response.response.allowed, true)
  })

  it('rejects a body by its Content-Length, before it is sent', async () => {
    await start()
    const { socket, received, ended } = await open()
    socket.write(head(reviewLimitBytes))
    await ended
    assert.match(received(), /^HTTP\/1\.1 200 .*connection: close.*"code":413/is)
  })

  it('rejects the request that has been incomplete for the longest time when its buffers are full', async () => {
    await start({ bufferedBytes: 2 * 1024 * 1024 })
    const first = await open()
    first.socket.write(head(1_500_000))
    first.socket.write(Buffer.alloc(1_000_000, ' '))
    await until(() => hook.server.bufferedBytes > 0)
    const second = await open()
    second.socket.write(head(1_500_000))
    second.socket.write(Buffer.alloc(1_200_000, ' '))
    await first.ended
    assert.match(first.received(), /^HTTP\/1\.1 429 .*retry-after: 1\r\n/is)
    second.socket.write(Buffer.alloc(300_000, ' '))
    await until(() => second.received() !== '')
    assert.match(second.received(), /^HTTP\/1\.1 200 .*"code":400/is)
    assert.match(await hook.registry.metrics(), /webhook_requests_total\{webhook="\/a",code="429"\} 1\n/)
  })

  it('rejects requests while waiting ones fill its buffers, and serves again afterwards', async () => {
    await start({ bufferedBytes: 1024 * 1024 })
    const decide = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    hook.server.handle('/slow', async () => {
      arrived.resolve()
      await decide.promise
      return allowed()
    })
    const large = review({ object: 'x'.repeat(700_000) })
    const waiting = hook.post('/slow', large)
    await arrived.promise
    assert.equal((await hook.post('/a', large, { agent: new Agent() })).status, 429)
    decide.resolve()
    assert.equal((await waiting).response.allowed, true)
    assert.equal(hook.server.bufferedBytes, 0)
    assert.equal((await hook.post('/a', large)).response.allowed, true)
  })

  it('releases the memory of requests that end too early', async () => {
    await start()
    const { socket } = await open()
    socket.write(head(1_000_000))
    socket.write(Buffer.alloc(500_000, ' '))
    await until(() => hook.server.bufferedBytes > 0)
    socket.destroy()
    await until(() => hook.server.bufferedBytes === 0)
  })

  it('closes connections of clients that request other paths', async () => {
    await start()
    const { socket, received, ended } = await open()
    socket.write('GET /nowhere HTTP/1.1\r\nhost: hook\r\n\r\n')
    await ended
    assert.match(received(), /^HTTP\/1\.1 404 .*connection: close/is)
  })
})

describe('the time for a decision', () => {
  for (const [query, ms] of [
    ['', 9_000],
    ['?timeout=10s', 9_000],
    ['?timeout=30s', 9_000],
    ['?timeout=2s', 1_800],
    ['?timeout=500ms', 450],
    ['?timeout=99999999999s', 9_000],
    ['?timeout=nonsense', 9_000],
  ] as const)
    it(`with ${query || 'no time-out'} is ${ms} ms`, () => {
      assert.equal(decisionMs(new URL(`https://webhook/a${query}`)), ms)
    })
})
