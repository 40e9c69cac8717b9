// SPDX-License-Identifier: Apache-2.0

// A Service as kube-proxy implements it: a new connection is sent to one endpoint at random, and stays there. An
// endpoint that does not listen costs the client its connection.
import { connect, createServer, type Server, type Socket } from 'node:net'

const host = '127.0.0.1'

export class ServiceProxy {
  readonly port: number
  /** Ports of the ready processes. */
  readonly endpoints = new Set<number>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(port: number) {
    this.port = port
    this.#server = createServer(client => this.#forward(client))
  }

  static async listen(port: number): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(port)
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject)
      proxy.#server.listen(port, host, resolve)
    })
    return proxy
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #forward(client: Socket): void {
    const endpoints = [...this.endpoints]
    const port = endpoints[Math.floor(Math.random() * endpoints.length)]
    if (port === undefined) return void client.resetAndDestroy()
    const endpoint = connect({ host, port })
    for (const [from, to] of [
      [client, endpoint],
      [endpoint, client],
    ] as const) {
      this.#sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroySoon()
      })
      from.pipe(to)
    }
  }
}
