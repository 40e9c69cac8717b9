// SPDX-License-Identifier: Apache-2.0

// The minimal cost of a request in Node: TLS sockets, text and JSON. There is no library, no validation and no error
// handling; it reads only successful responses of an API server.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { ClusterConfig, TlsMaterial } from '@grove/kube'
import type { Pod } from './pods.ts'
import type { Way } from './ways.ts'

const readBufferBytes = 65_536

class BareConnection {
  readonly #server: URL
  readonly #socket: TLSSocket
  #text = ''
  #onResponse: (body: string) => void = () => undefined

  constructor(config: ClusterConfig) {
    const { ca, certificate: cert, key } = config.tls() as TlsMaterial
    this.#server = new URL(config.server)
    const { hostname: host, port } = this.#server
    const buffer = Buffer.allocUnsafeSlow(readBufferBytes)
    const callback = (length: number) => {
      this.#text += buffer.toString('latin1', 0, length)
      const body = bodyOf(this.#text)
      if (body === undefined) return true
      this.#text = ''
      this.#onResponse(body)
      return true
    }
    const reading = { onread: { buffer, callback } }
    this.#socket = connect({
      host,
      port: Number(port),
      ca,
      cert,
      key,
      ALPNProtocols: ['http/1.1'],
      ...reading,
    })
    this.#socket.setNoDelay(true)
  }

  async open(): Promise<this> {
    await once(this.#socket, 'secureConnect')
    return this
  }

  create(pod: Pod): Promise<string> {
    const body = JSON.stringify(pod)
    this.#socket.write(
      `POST /api/v1/namespaces/${pod.metadata!.namespace}/pods HTTP/1.1\r\nhost: ${this.#server.host}\r\n` +
        'content-type: application/json\r\naccept: application/json\r\n' +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    return new Promise(resolve => {
      this.#onResponse = resolve
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Undefined while the response is incomplete. */
function bodyOf(text: string): string | undefined {
  const start = text.indexOf('\r\n\r\n') + 4
  if (start < 4) return undefined
  const length = /content-length: (\d+)/i.exec(text.slice(0, start))?.[1]
  if (length !== undefined)
    return text.length < start + Number(length) ? undefined : text.slice(start, start + Number(length))
  if (!text.endsWith('\r\n0\r\n\r\n')) return undefined
  let body = ''
  for (let at = start; ; ) {
    const line = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, line), 16)
    if (size === 0) return body
    body += text.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
}

export function bareLoop(config: ClusterConfig, concurrency: number): Way {
  const connections: BareConnection[] = []
  async function create(wanted: readonly Pod[]): Promise<void> {
    while (connections.length < concurrency) connections.push(await new BareConnection(config).open())
    const left = [...wanted]
    await Promise.all(
      connections.map(async connection => {
        for (let pod = left.pop(); pod; pod = left.pop()) {
          const created = JSON.parse(await connection.create(pod))
          if (created.kind !== 'Pod') throw new Error(JSON.stringify(created))
        }
      }),
    )
  }
  const close = async () => {
    for (const connection of connections) connection.close()
  }
  return { name: `bare sockets, ${concurrency} at once`, create, close }
}
