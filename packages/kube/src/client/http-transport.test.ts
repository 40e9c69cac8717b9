// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { buildConnector } from 'undici'
import { HttpTransport } from './http-transport.ts'
import { TransportError, type TransportRequest } from './transport.ts'

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

/** Long enough to have no effect on tests that are not about time-outs. */
const longTimeoutMs = 60_000

describe('HttpTransport', () => {
  let server: Server
  let address: string
  let behaviour: Behaviour
  const connections = new Set<Socket>()
  let accepted = 0

  before(async () => {
    server = createServer((request, response) => behaviour(request, response))
    server.on('connection', socket => {
      accepted++
      connections.add(socket)
      socket.on('close', () => connections.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })

  const open = (path = '', maxConnections = 8) =>
    new HttpTransport({ server: address + path, connect: buildConnector({}), maxConnections })
  const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
    method: 'GET',
    path,
    headers: {},
    timeoutMs: longTimeoutMs,
    ...more,
  })
  const failureOf = async (promise: Promise<unknown>): Promise<TransportError> => {
    const error = await promise.then(
      () => assert.fail('did not fail'),
      (e: unknown) => e,
    )
    assert.ok(error instanceof TransportError, String(error))
    return error
  }

  it('sends method, path, headers and body, and returns the complete response', async () => {
    behaviour = (request, response) => {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => {
        response.writeHead(201, { 'x-one': ['a', 'b'] })
        response.write(`${request.method} ${request.url} ${request.headers['x-two']} `)
        response.end(body)
      })
    }
    const transport = open('/base/')
    const reply = await transport.request({
      ...get('/a?b=c'),
      method: 'POST',
      headers: { 'x-two': '2' },
      body: '{"ä":1}',
    })
    assert.equal(reply.status, 201)
    assert.equal(reply.body.toString(), 'POST /base/a?b=c 2 {"ä":1}')
    assert.equal(String(reply.headers['x-one']), 'a,b')
    await transport.close()
  })

  it('reuses connections, up to the limit of requests in flight', async () => {
    const transport = open('', 3)
    behaviour = (_, response) => void response.end('{}')
    accepted = 0
    await Promise.all(Array.from({ length: 20 }, () => transport.request(get('/'))))
    for (let i = 0; i < 5; i++) await transport.request(get('/'))
    assert.equal(accepted, 3)
    await transport.close()
  })

  it('on close, finishes requests that wait for a connection and drops aborted ones', async () => {
    const transport = open('', 1)
    const responded: string[] = []
    const held: (() => void)[] = []
    behaviour = (request, response) => {
      responded.push(request.url!)
      held.push(() => void response.end('{}'))
    }
    const abort = new AbortController()
    const first = transport.request(get('/first'))
    const second = failureOf(transport.request(get('/second', { signal: abort.signal })))
    const third = transport.request(get('/third'))
    while (held.length === 0) await new Promise(setImmediate)
    abort.abort()
    const closed = transport.close()
    held.shift()!()
    while (held.length === 0) await new Promise(setImmediate)
    held.shift()!()
    assert.equal((await second).kind, 'aborted')
    await Promise.all([first, third, closed])
    assert.deepEqual(responded, ['/first', '/third'])
  })

  it('opens a separate connection for each stream, regardless of other requests', async () => {
    const transport = open('', 1)
    behaviour = (_, response) => void response.write('x')
    await Promise.all([1, 2, 3].map(() => transport.stream(get('/'))))
    behaviour = (_, response) => void response.end('{}')
    assert.equal((await transport.request(get('/'))).body.toString(), '{}')
    for (const socket of connections) socket.destroy()
    await transport.close()
  })

  it('reports a request as not sent on "connection refused"', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    free.close()
    await once(free, 'close')
    const transport = new HttpTransport({
      server: `http://127.0.0.1:${port}`,
      connect: buildConnector({}),
      maxConnections: 1,
    })
    const error = await failureOf(transport.request({ ...get('/'), method: 'POST', body: '{}' }))
    assert.equal(error.kind, 'network')
    assert.equal(error.sent, false)
    assert.match(error.message, /ECONNREFUSED/)
  })

  it('reports a request as sent if the connection was cut afterwards', async () => {
    const transport = open()
    behaviour = request => void request.socket.destroy()
    const error = await failureOf(transport.request({ ...get('/'), method: 'POST', body: '{}' }))
    assert.equal(error.kind, 'network')
    assert.equal(error.sent, true)
    await transport.close()
  })

  it('does not accept a truncated response', async () => {
    const transport = open()
    for (const headers of [{ 'content-length': '100' }, {}]) {
      behaviour = (request, response) => {
        response.writeHead(200, headers)
        response.write('{"half":', () => request.socket.destroy())
      }
      assert.equal((await failureOf(transport.request(get('/')))).kind, 'network')
    }
    await transport.close()
  })

  it('times out on a silent server', async () => {
    const transport = open()
    behaviour = () => {}
    assert.equal((await failureOf(transport.request(get('/', { timeoutMs: 20 })))).kind, 'timeout')
    behaviour = (_, response) => void response.write('{')
    assert.equal((await failureOf(transport.request(get('/', { timeoutMs: 20 })))).kind, 'timeout')
    await transport.close()
  })

  it('ends a request when its signal is aborted, and never sends an aborted one', async () => {
    const transport = open()
    const stop = new AbortController()
    behaviour = () => stop.abort()
    const error = await failureOf(transport.request(get('/', { signal: stop.signal })))
    assert.equal(error.kind, 'aborted')
    let reached = false
    behaviour = () => {
      reached = true
    }
    const rejected = await failureOf(transport.request(get('/', { signal: stop.signal })))
    assert.deepEqual([rejected.kind, rejected.sent, reached], ['aborted', false, false])
    await transport.close()
  })

  it('ends at once when aborted before or during the wait for a connection', async () => {
    const transport = open('', 1)
    const reached: (string | undefined)[] = []
    const arrived = Promise.withResolvers<ServerResponse>()
    behaviour = (request, response) => {
      reached.push(request.url)
      arrived.resolve(response)
    }
    const first = transport.request(get('/first'))
    const reply = await arrived.promise
    const stop = new AbortController()
    const waiting = failureOf(transport.request(get('/waiting', { signal: stop.signal })))
    stop.abort()
    for (const error of [
      await waiting,
      await failureOf(transport.request(get('/late', { signal: stop.signal }))),
    ])
      assert.deepEqual([error.kind, error.sent], ['aborted', false])
    reply.end()
    await first
    behaviour = (_, response) => void response.end()
    await transport.request(get('/next'))
    assert.deepEqual(reached, ['/first'])
    await transport.close()
  })

  it('ends at once when aborted in the middle of a response, or before a stream begins', async () => {
    const transport = open()
    const middle = new AbortController()
    behaviour = (_, response) => void response.write('{"half":', () => middle.abort())
    const half = await failureOf(transport.request(get('/', { signal: middle.signal })))
    assert.deepEqual([half.kind, half.sent], ['aborted', true])
    const before = new AbortController()
    behaviour = () => before.abort()
    const none = await failureOf(transport.stream(get('/', { signal: before.signal })))
    assert.deepEqual([none.kind, none.sent], ['aborted', true])
    await transport.close()
    while (connections.size > 0) await once([...connections][0]!, 'close')
  })

  it('reports a reset connection in each phase, and continues with a new one', async () => {
    const transport = open()
    const reset = (request: IncomingMessage) => void request.socket.resetAndDestroy()
    const begin = (request: IncomingMessage, response: ServerResponse) =>
      void response.write('half', () => reset(request))
    for (const fault of [reset, begin]) {
      behaviour = fault
      const error = await failureOf(transport.request(get('/')))
      assert.deepEqual([error.kind, error.sent], ['network', true])
    }
    behaviour = reset
    assert.equal((await failureOf(transport.stream(get('/')))).kind, 'network')
    behaviour = begin
    const { body } = await transport.stream(get('/'))
    assert.equal((await failureOf(Array.fromAsync(body))).kind, 'network')
    behaviour = (_, response) => void response.end('whole')
    assert.equal(String((await transport.request(get('/'))).body), 'whole')
    await transport.close()
  })

  it('streams a response as it arrives and reports its end', async () => {
    const transport = open()
    let going: ServerResponse | undefined
    behaviour = (_, response) => {
      going = response
      response.write('one')
    }
    const stream = await transport.stream(get('/'))
    const parts = stream.body[Symbol.asyncIterator]()
    assert.equal(String((await parts.next()).value), 'one')
    going!.write('two')
    assert.equal(String((await parts.next()).value), 'two')
    going!.end()
    assert.equal((await parts.next()).done, true)

    const cut = await transport.stream(get('/'))
    const cutParts = cut.body[Symbol.asyncIterator]()
    await cutParts.next()
    going!.destroy()
    assert.equal((await failureOf(cutParts.next())).kind, 'network')

    const silent = await transport.stream(get('/', { timeoutMs: 20 }))
    const silentParts = silent.body[Symbol.asyncIterator]()
    await silentParts.next()
    assert.equal((await failureOf(silentParts.next())).kind, 'timeout')
    await transport.close()
  })

  it('closes the connection of a stream that is abandoned or aborted', async () => {
    const transport = open()
    behaviour = (_, response) => void response.write('x')
    const left = await transport.stream(get('/'))
    for await (const _ of left.body) break
    const stop = new AbortController()
    const aborted = await transport.stream(get('/', { signal: stop.signal }))
    const parts = aborted.body[Symbol.asyncIterator]()
    await parts.next()
    stop.abort()
    assert.equal((await failureOf(parts.next())).kind, 'aborted')
    await transport.close()
    while (connections.size > 0) await once([...connections][0]!, 'close')
  })

  it('applies backpressure to a fast server, and loses nothing', async () => {
    const transport = open()
    const size = 8 * 1024 * 1024
    behaviour = (_, response) => void response.end(Buffer.alloc(size, 'x'))
    const stream = await transport.stream(get('/'))
    let read = 0
    for await (const chunk of stream.body) {
      read += chunk.length
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.equal(read, size)
    await transport.close()
  })
})
