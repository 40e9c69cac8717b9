// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { afterEach, before, beforeEach, describe, it } from 'node:test'
import { connect } from 'node:tls'
import { type KeyPair, MemoryCertificateSource } from '../certificates/index.ts'
import { systemClock } from '../clock/index.ts'
import { host, newAuthority, newServerCertificate, review, TestServer } from '../testing/webhook-server.ts'
import { allowed } from './admission.ts'
import { WebhookServer } from './server.ts'

const never = new AbortController().signal

let hook: TestServer
let authority: KeyPair
before(async () => {
  authority = await newAuthority()
})
beforeEach(async () => {
  hook = await TestServer.start(authority)
})
afterEach(() => hook.stop())

describe('WebhookServer', () => {
  it('rejects versions before TLS 1.2', async () => {
    const error = await new Promise<Error>((resolve, reject) => {
      const socket = connect({
        host,
        port: hook.server.port!,
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
        ca: hook.authority.cert,
      })
      socket.on('error', resolve)
      socket.on('secureConnect', () => reject(new Error('connected')))
    })
    assert.ok(error)
  })

  it('presents a replaced certificate to new connections and keeps open ones', async () => {
    let calls = 0
    hook.server.handle('/a', async () => {
      calls++
      await new Promise(resolve => setImmediate(resolve))
      return allowed()
    })
    const next = await newAuthority()
    const trusted = hook.authority.cert + next.cert
    const replacements = await Promise.all(
      Array.from({ length: 20 }, (_, i) => newServerCertificate(i % 2 ? hook.authority : next)),
    )
    const serials = new Set<string>()
    const failures: unknown[] = []
    let sent = 0
    let responded = 0
    // Half of the requests use kept connections, half new ones, as from several API servers.
    const fresh = new Agent({ keepAlive: false, maxCachedSessions: 0 })
    const client = async (over: Agent) => {
      while (sent < 600) {
        sent++
        try {
          const { response } = await hook.post('/a', review(), { ca: trusted, agent: over })
          assert.equal(response.allowed, true)
        } catch (error) {
          failures.push(error)
        }
        if (++responded % 30 === 0) {
          const pair = replacements.pop()
          if (pair) hook.certificates.set(pair)
          serials.add(await hook.presentedSerial(trusted))
        }
      }
    }
    await Promise.all([
      ...Array.from({ length: 5 }, () => client(hook.agent)),
      ...Array.from({ length: 5 }, () => client(fresh)),
    ])
    fresh.destroy()
    assert.deepEqual(failures, [])
    assert.ok(calls >= 600)
    assert.ok(serials.size >= 10, `${serials.size} different certificates were presented`)
  })

  it('keeps its certificate if the next one is unusable', async () => {
    hook.server.handle('/a', () => allowed())
    hook.certificates.set({ cert: 'nonsense', key: 'nonsense' })
    assert.equal((await hook.post('/a', review())).response.allowed, true)
  })

  it('finishes open requests on stop, and accepts no new ones', async () => {
    const arrived = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    hook.server.handle('/slow', async () => {
      arrived.resolve()
      await finish.promise
      return allowed()
    })
    const open = hook.post('/slow', review())
    await arrived.promise
    const { port } = hook.server
    const stopping = hook.server.stop()
    await assert.rejects(hook.post('/slow', review(), { port, agent: new Agent() }))
    finish.resolve()
    assert.equal((await open).response.allowed, true)
    await stopping
  })

  it('responds while it drains, and closes each connection after its response', async () => {
    hook.server.handle('/a', () => allowed())
    const open = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = () => Object.values(open.freeSockets).flat().length
    await hook.post('/a', review(), { agent: open })
    assert.equal(sockets(), 1)
    hook.server.drain()
    for (let i = 0; i < 3; i++) {
      assert.equal((await hook.post('/a', review(), { agent: open })).response.allowed, true)
      assert.equal(sockets(), 0)
    }
    open.destroy()
  })

  it('rejects two handlers for one path', async () => {
    hook.server.handle('/a', () => allowed())
    assert.throws(
      () => hook.server.handle('/a', () => allowed()),
      /a webhook for the path .a is already registered/,
    )
  })
})

describe('the readiness of the webhook server', () => {
  it('is checked by a connection', async () => {
    await hook.server.check()
    await hook.server.stop()
    await assert.rejects(hook.server.check(), { message: 'webhook server has not been started yet' })
  })

  it('waits for a first certificate instead of failing', async () => {
    const empty = new MemoryCertificateSource()
    const waiting = new WebhookServer({ host, port: 0, certificates: empty, clock: systemClock })
    const starting = waiting.start(never)
    await assert.rejects(waiting.check(), /has not been started yet/)
    empty.set(await newServerCertificate(hook.authority))
    await starting
    await waiting.check()
    await waiting.stop()
  })

  it('stops waiting for a certificate when the signal is aborted', async () => {
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

  it('reports that it cannot listen', async () => {
    const second = new WebhookServer({
      host,
      port: hook.server.port!,
      certificates: hook.certificates,
      clock: systemClock,
    })
    await assert.rejects(second.start(never), /^Error: cannot serve webhooks: listen EADDRINUSE/)
  })
})
