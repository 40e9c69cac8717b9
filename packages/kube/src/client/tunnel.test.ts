// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { openTunnel } from './tunnel.ts'

const timeoutMs = 60_000
const open = new Set<Socket>()

async function listen(server: Server): Promise<number> {
  server.on('connection', socket => {
    open.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends a text and waits for the same text in capitals. */
async function talk(socket: Socket): Promise<void> {
  socket.write('hello')
  assert.equal(String((await once(socket, 'data'))[0]), 'HELLO')
  socket.destroy()
}

describe('openTunnel', () => {
  const echo = createServer(socket => socket.on('data', data => socket.write(String(data).toUpperCase())))
  const http = createHttpServer()
  let connectRequest: { authority?: string; authorization?: string } = {}
  let reject = false
  http.on('connect', (request, client: Socket) => {
    connectRequest = { authority: request.url, authorization: request.headers['proxy-authorization'] }
    if (reject) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const upstream = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
  })
  const socks = createServer(client => void serveSocks(client).catch(() => client.destroy()))
  let socksUser: string | undefined
  let ports: { echo: number; http: number; socks: number }

  async function serveSocks(client: Socket): Promise<void> {
    const read = async (count: number): Promise<Buffer> => {
      for (;;) {
        const bytes: Buffer | null = client.read(count)
        if (bytes) return bytes
        await once(client, 'readable')
      }
    }
    const [, methods = 0] = await read(2)
    const method = (await read(methods)).includes(2) ? 2 : 0
    client.write(Buffer.from([5, method]))
    if (method === 2) {
      const [, length = 0] = await read(2)
      socksUser = String(await read(length))
      await read((await read(1))[0]!)
      client.write(Buffer.from([1, socksUser === 'wrong' ? 1 : 0]))
    }
    const [, , , , length = 0] = await read(5)
    const host = String(await read(length))
    const port = (await read(2)).readUInt16BE()
    if (host === 'unreachable') return void client.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]))
    const upstream = connect(port, '127.0.0.1', () => {
      client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
      client.pipe(upstream).pipe(client)
    })
  }

  before(async () => {
    ports = { echo: await listen(echo), http: await listen(http), socks: await listen(socks) }
  })
  after(() => {
    for (const socket of open) socket.destroy()
    for (const server of [echo, http, socks]) server.close()
  })

  const target = (hostname = 'somewhere') => ({ hostname, port: String(ports.echo), protocol: 'https:' })

  it('connects through an HTTP proxy, with its user and password', async () => {
    await talk(await openTunnel(`http://me:p%40ss@127.0.0.1:${ports.http}`, target(), timeoutMs))
    assert.deepEqual(connectRequest, {
      authority: `somewhere:${ports.echo}`,
      authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    })
  })

  it("reports the proxy's response, without the password", async () => {
    reject = true
    const rejected = openTunnel(`http://me:s3cret@127.0.0.1:${ports.http}`, target(), timeoutMs)
    await assert.rejects(rejected, error => {
      assert.match(String(error), /CONNECT failed with status 407/)
      assert.doesNotMatch(String(error), /s3cret/)
      return true
    })
  })

  it('connects through a SOCKS proxy, which resolves the name', async () => {
    await talk(await openTunnel(`socks5://127.0.0.1:${ports.socks}`, target(), timeoutMs))
    await talk(await openTunnel(`socks5://me:pw@127.0.0.1:${ports.socks}`, target(), timeoutMs))
    assert.equal(socksUser, 'me')
  })

  it('fails if the SOCKS proxy rejects the client or cannot connect', async () => {
    const wrong = openTunnel(`socks5://wrong:pw@127.0.0.1:${ports.socks}`, target(), timeoutMs)
    await assert.rejects(wrong, /Authentication failed/)
    const lost = openTunnel(`socks5://127.0.0.1:${ports.socks}`, target('unreachable'), timeoutMs)
    await assert.rejects(lost, /Proxy connection rejected|rejected connection/i)
  })

  it('rejects other kinds of proxy', async () => {
    await assert.rejects(openTunnel('ftp://127.0.0.1', target(), timeoutMs), /unknown proxy scheme ftp:/)
  })
})
