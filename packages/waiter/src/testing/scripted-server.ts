// SPDX-License-Identifier: Apache-2.0

// An API server on loopback that follows a script, the files of a pod, and a clock that fires at once.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http, { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiConnection } from '../api-connection.ts'
import type { Clock } from '../clock.ts'
import { podCliqueLabel } from '../pod.ts'
import { timing } from '../timing.ts'

export interface RecordedRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly token: string | undefined
}

/** Responds to one request. */
export type Step = (response: ServerResponse, requests: RecordedRequest) => void

export const pod = (name: string, clique: string, ready: boolean, version = '1') => ({
  metadata: { name, resourceVersion: version, labels: { [podCliqueLabel]: clique } },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

export const list =
  (version: string, items: readonly object[], more?: string): Step =>
  response => {
    response.end(JSON.stringify({ metadata: { resourceVersion: version, continue: more }, items }))
  }

/** A watch that sends these events and stays open. */
export const watch =
  (...events: readonly object[]): Step =>
  response => {
    response.flushHeaders()
    for (const event of events) response.write(`${JSON.stringify(event)}\n`)
  }

/** A watch that sends these events and then ends. */
export const endingWatch =
  (...events: readonly object[]): Step =>
  response => {
    response.end(events.map(event => `${JSON.stringify(event)}\n`).join(''))
  }

export const status =
  (code: number, message: string, headers: Readonly<Record<string, string>> = {}): Step =>
  response => {
    response.writeHead(code, headers).end(JSON.stringify({ kind: 'Status', code, message }))
  }

/** The connection breaks before or in the middle of a response. */
export const cut =
  (text = ''): Step =>
  response => {
    if (text === '') response.socket?.destroy()
    else response.write(text, () => response.socket?.destroy())
  }

export class ScriptedServer implements AsyncDisposable {
  readonly requests: RecordedRequest[] = []
  /** Contains `token` and `ca.crt`. */
  readonly directory = mkdtempSync(join(tmpdir(), 'grove-waiter-'))
  readonly #steps: Step[]
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://server')
    const requests: RecordedRequest = {
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      token: request.headers.authorization?.replace('Bearer ', ''),
    }
    this.requests.push(requests)
    const step = this.#steps.shift()
    if (step) step(response, requests)
    else status(500, 'the script is at its end')(response, requests)
  })
  #port = 0

  constructor(steps: readonly Step[]) {
    this.#steps = [...steps]
    this.writeToken('first-token')
    writeFileSync(join(this.directory, 'ca.crt'), 'not looked at')
  }

  static async following(...steps: Step[]): Promise<ScriptedServer> {
    const server = new ScriptedServer(steps)
    await server.listen()
    return server
  }

  /** Always on the same port. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  writeToken(token: string): void {
    writeFileSync(join(this.directory, 'token'), token)
  }

  get connection(): ApiConnection {
    return new ApiConnection({
      server: `http://127.0.0.1:${this.#port}`,
      serviceAccountDirectory: this.directory,
      module: http,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    rmSync(this.directory, { recursive: true })
  }
}

/** Fires every timer at once, except the reminder, which the test fires. */
export class ImmediateClock implements Clock {
  readonly pauses: number[] = []
  remind: () => void = () => {}
  readonly #onPause: (count: number) => Promise<void>

  constructor(onPause: (count: number) => Promise<void> = async () => {}) {
    this.#onPause = onPause
  }

  setTimeout(callback: () => void, ms: number): { cancel(): void } {
    let cancelled = false
    const fire = () => {
      if (!cancelled) callback()
    }
    if (ms === timing.reminderMs) this.remind = fire
    else this.#onPause(this.pauses.push(ms)).then(() => setImmediate(fire))
    return {
      cancel: () => {
        cancelled = true
      },
    }
  }
}
