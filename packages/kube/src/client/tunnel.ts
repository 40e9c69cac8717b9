// SPDX-License-Identifier: Apache-2.0

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'

export interface TunnelTarget {
  readonly hostname: string
  readonly port: string
  readonly protocol: string
}

/** A socket that reaches the target through an `http`, `https` or `socks5` proxy. User and password of the proxy's URL
 * are used; they never appear in errors. */
export async function openTunnel(proxy: string, target: TunnelTarget, timeoutMs: number): Promise<Socket> {
  const url = new URL(proxy)
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
  // Not AbortSignal.timeout: that would fire later and destroy a socket which is long in use.
  const handshake = new AbortController()
  const timer = setTimeout(() => handshake.abort(new Error('no answer in time')), timeoutMs)
  const { signal } = handshake
  const host = target.hostname.replace(/^\[|\]$/g, '')
  try {
    switch (url.protocol) {
      case 'http:':
      case 'https:':
        return await connectThroughHttp(url, host, port, signal)
      case 'socks5:':
      case 'socks5h:':
        return await connectThroughSocks(url, host, port, signal)
      default:
        throw new Error(`unknown proxy scheme ${url.protocol}; http, https and socks5 are known`)
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`proxy ${url.host}: ${reason}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

async function connectThroughHttp(
  proxy: URL,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    host: proxy.hostname,
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
    agent: false,
    signal,
  })
  request.end()
  return new Promise((resolve, reject) => {
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) resolve(socket as Socket)
      else {
        socket.destroy()
        reject(new Error(`answered CONNECT with ${response.statusCode} ${response.statusMessage}`))
      }
    })
    request.once('response', response => {
      response.resume()
      reject(new Error(`answered CONNECT with ${response.statusCode} ${response.statusMessage}`))
    })
    request.once('error', reject)
  })
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {}
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

const socksVersion = 5
const methodNone = 0
const methodPassword = 2
const commandConnect = 1
const addressDomain = 3
const defaultSocksPort = 1080

/** RFC 1928, with the name resolved by the proxy, and RFC 1929 when the URL has a user. */
async function connectThroughSocks(
  proxy: URL,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect({ host: proxy.hostname, port: Number(proxy.port || defaultSocksPort), signal })
  try {
    await once(socket, 'connect', { signal })
    const read = readerOf(socket, signal)
    const method = proxy.username ? methodPassword : methodNone
    socket.write(Buffer.from([socksVersion, 1, method]))
    if ((await read(2))[1] !== method) throw new Error('refused the way of authenticating')
    if (method === methodPassword) {
      socket.write(Buffer.concat([Buffer.from([1]), field(proxy.username), field(proxy.password)]))
      if ((await read(2))[1] !== 0) throw new Error('refused user and password')
    }
    const portBytes = Buffer.alloc(2)
    portBytes.writeUInt16BE(port)
    const name = Buffer.from(host)
    socket.write(
      Buffer.concat([
        Buffer.from([socksVersion, commandConnect, 0, addressDomain, name.length]),
        name,
        portBytes,
      ]),
    )
    const [, reply, , addressType] = await read(4)
    if (reply !== 0) throw new Error(`could not reach ${host}:${port} (SOCKS reply ${reply})`)
    const addressBytes = addressType === 1 ? 4 : addressType === 4 ? 16 : (await read(1))[0]!
    await read(addressBytes + 2)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function field(text: string): Buffer {
  const bytes = Buffer.from(decodeURIComponent(text))
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

/** Reads exactly so many bytes and leaves the rest in the socket. */
function readerOf(socket: Socket, signal: AbortSignal): (count: number) => Promise<Buffer> {
  return async count => {
    while (true) {
      const bytes = socket.read(count) as Buffer | null
      if (bytes?.length === count) return bytes
      if (bytes || socket.readableEnded) throw new Error('closed the connection during the handshake')
      await once(socket, 'readable', { signal })
    }
  }
}
