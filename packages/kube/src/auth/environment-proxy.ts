// SPDX-License-Identifier: Apache-2.0

import { BlockList, isIP } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxy for a server according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY. As in Go clients, loopback
 * addresses never use a proxy.
 */
export function proxyFor(server: string, environment: Environment): string | undefined {
  const url = new URL(server)
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = environment[name] || environment[name.toLowerCase()]
  if (!proxy) return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  if (isLoopback(host) || isExcluded(host, port, environment.NO_PROXY || environment.no_proxy || ''))
    return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map(entry => entry.trim().toLowerCase())
    .some(entry => entry !== '' && matches(host, port, entry))
}

function matches(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return isInNetwork(host, entry)
  const [name = '', wantedPort] = isIP(entry) ? [entry] : splitPort(entry)
  if (wantedPort && wantedPort !== port) return false
  if (isIP(host)) return host === name
  if (name.startsWith('*.')) return host.endsWith(name.slice(1))
  if (name.startsWith('.')) return host.endsWith(name)
  return host === name || host.endsWith(`.${name}`)
}

function splitPort(entry: string): [string, string | undefined] {
  const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(entry)
  return match ? [match[1] ?? match[2] ?? '', match[3]] : [entry, undefined]
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/')
  const family = isIP(address)
  if (!family || isIP(host) !== family || !/^\d+$/.test(bits)) return false
  const type = family === 6 ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  list.addSubnet(address, Number(bits), type)
  return list.check(host, type)
}
