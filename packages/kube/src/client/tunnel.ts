// SPDX-License-Identifier: Apache-2.0

import type { Socket } from 'node:net'
import { Client } from 'undici'
import { messageOf } from '../log/message.ts'

export interface TunnelTarget {
  readonly hostname: string
  readonly port: string
  readonly protocol: string
}

const defaultSocksPort = 1080

/**
 * Opens a socket to the target through an `http`, `https` or `socks5` proxy. Uses user and password of the proxy's
 * URL, which never appear in errors.
 */
export async function openTunnel(proxy: string, target: TunnelTarget, timeoutMs: number): Promise<Socket> {
  const url = new URL(proxy)
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
  const host = target.hostname.replace(/^\[|\]$/g, '')
  try {
    switch (url.protocol) {
      case 'http:':
      case 'https:':
        return await connectThroughHttp(url, host, port, timeoutMs)
      case 'socks5:':
      case 'socks5h:':
        return await connectThroughSocks(url, host, port, timeoutMs)
      default:
        throw new Error(`unknown proxy scheme ${url.protocol}; supported: http, https, socks5`)
    }
  } catch (cause) {
    const reason = messageOf(cause)
    throw new Error(`proxy ${url.host}: ${reason}`, { cause })
  }
}

async function connectThroughHttp(
  proxy: URL,
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const client = new Client(proxy.origin, { connectTimeout: timeoutMs, headersTimeout: timeoutMs })
  try {
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
    })
    if (statusCode === 200) return socket as Socket
    socket.destroy()
    throw new Error(`CONNECT failed with status ${statusCode}`)
  } finally {
    // The socket of a tunnel no longer belongs to the client.
    client.close().catch(() => {})
  }
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {}
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** The proxy resolves the name of the target. */
async function connectThroughSocks(
  proxy: URL,
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> {
  // Few clusters are behind such a proxy, and commands load the client at every start.
  const { SocksClient } = await import('socks')
  const { socket } = await SocksClient.createConnection({
    command: 'connect',
    destination: { host, port },
    timeout: timeoutMs,
    proxy: {
      type: 5,
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxy.port || defaultSocksPort),
      ...(proxy.username && {
        userId: decodeURIComponent(proxy.username),
        password: decodeURIComponent(proxy.password),
      }),
    },
  })
  return socket
}
