// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { buildConnector } from 'undici'
import { HttpTransport } from '../client/http-transport.ts'
import { type Transport, TransportError, type TransportRequest } from '../client/transport.ts'
import { FencedTransport } from './fenced-transport.ts'
import { type Leadership, LeadershipLost } from './leadership.ts'

const never = new AbortController().signal

describe('FencedTransport', () => {
  function fenced() {
    let held = true
    const leadership: Leadership = {
      identity: 'me',
      isHeld: () => held,
      assertHeld: () => {
        if (!held) throw new LeadershipLost('lost')
      },
      signal: never,
    }
    const connected: (() => void)[] = []
    const sent: TransportRequest[] = []
    const inner: Transport = {
      request: async request => {
        if (request.method !== 'GET') await new Promise<void>(resolve => connected.push(resolve))
        if (request.signal?.aborted)
          throw new TransportError('aborted', false, 'aborted', request.signal.reason)
        sent.push(request)
        return { status: 200, headers: {}, body: '' }
      },
      stream: () => Promise.reject(new Error('not used')),
      close: async () => {},
    }
    return {
      transport: new FencedTransport(inner, leadership),
      connected,
      sent,
      lose: () => {
        held = false
      },
    }
  }
  const write: TransportRequest = { method: 'PATCH', path: '/x', headers: {}, timeoutMs: 1 }

  it('allows writes while leadership is held, and reads always', async () => {
    const { transport, connected, sent, lose } = fenced()
    const passing = transport.request(write)
    connected[0]!()
    await passing
    lose()
    await transport.request({ ...write, method: 'GET' })
    await assert.rejects(transport.request(write), { kind: 'aborted', sent: false })
    assert.deepEqual(
      sent.map(request => request.method),
      ['PATCH', 'GET'],
    )
  })

  it('stops a write that waited for its connection while leadership was lost', async () => {
    const { transport, connected, sent, lose } = fenced()
    const waiting = transport.request(write)
    lose()
    connected[0]!()
    await assert.rejects(waiting, { kind: 'aborted', sent: false })
    assert.deepEqual(sent, [])
  })

  it("also obeys the caller's signal", async () => {
    const { transport, connected } = fenced()
    const stop = new AbortController()
    const waiting = transport.request({ ...write, signal: stop.signal })
    stop.abort(new Error('enough'))
    connected[0]!()
    await assert.rejects(waiting, { kind: 'aborted' })
  })
})

describe('FencedTransport over sockets', () => {
  it('checks leadership after the connection is open and before the first byte is sent', async () => {
    const arrived: string[] = []
    const server = createServer((request, response) => {
      arrived.push(request.method ?? '')
      response.end('{}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const connects: (() => void)[] = []
    const connectionOpened = async () => {
      while (connects.length === 0) await new Promise(resolve => setImmediate(resolve))
    }
    const connector = buildConnector({})
    const inner = new HttpTransport({
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connect: (options, callback) => connects.push(() => connector(options, callback)),
      maxConnections: 1,
    })
    let held = true
    const leadership: Leadership = {
      identity: 'me',
      isHeld: () => held,
      assertHeld: () => {
        if (!held) throw new LeadershipLost('lost')
      },
      signal: never,
    }
    const transport = new FencedTransport(inner, leadership)
    const waiting = transport.request({ method: 'POST', path: '/', headers: {}, timeoutMs: 10_000 })
    await connectionOpened()
    // The process was paused here, and another process took the lease.
    held = false
    connects.shift()!()
    await assert.rejects(waiting, { name: 'TransportError', kind: 'aborted', sent: false })
    held = true
    const next = transport.request({ method: 'POST', path: '/', headers: {}, timeoutMs: 10_000 })
    await connectionOpened()
    connects.shift()!()
    assert.equal((await next).status, 200)
    assert.deepEqual(arrived, ['POST'])
    await transport.close()
    server.close()
  })
})
