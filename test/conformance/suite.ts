// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, it } from 'node:test'
import { Http, type Target } from './http.ts'

/** The fixture of one case: a server and an own namespace. */
export interface Fixture {
  readonly http: Http
  readonly namespace: string
  /** Unique for each case; for names of cluster-scoped objects. */
  readonly id: string
  /** `/api/v1/namespaces/<own>/<rest>` */
  core(rest: string): string
  /** `/apis/<groupVersion>/namespaces/<own>/<rest>` */
  group(groupVersion: string, rest: string): string
  /** Repeats a request until the response is right, for effects that a real server applies with a delay. */
  eventually<T>(ask: () => Promise<T>, right: (response: T) => boolean): Promise<T>
}

export interface Case {
  readonly name: string
  readonly run: (fixture: Fixture) => Promise<void>
}

export interface Chapter {
  readonly title: string
  readonly cases: readonly Case[]
}

export function chapter(title: string, cases: Readonly<Record<string, Case['run']>>): Chapter {
  return { title, cases: Object.entries(cases).map(([name, run]) => ({ name, run })) }
}

/** The server under test. */
export interface Server {
  readonly target: Target
  stop(): Promise<void>
}

const pollMs = 20
/** Long, because it only bounds failures: some controllers run for the first time after 15 s. */
const patienceMs = 120_000

/** `prefix` is the start of the namespace names. A server that runs the suite twice needs two prefixes. */
export function runSuite(
  title: string,
  chapters: readonly Chapter[],
  start: () => Promise<Server>,
  prefix = 'case',
): void {
  describe(title, () => {
    let server: Server
    let http: Http
    let count = 0
    before(async () => {
      server = await start()
      http = new Http(server.target)
    })
    after(async () => {
      http?.close()
      await server?.stop()
    })
    for (const { title: heading, cases } of chapters)
      describe(heading, () => {
        for (const { name, run } of cases)
          it(name, async () => {
            const id = `${prefix}-${++count}`
            await http.post('/api/v1/namespaces', { metadata: { name: id } })
            await run(fixtureFor(http, id))
          })
      })
  })
}

function fixtureFor(http: Http, id: string): Fixture {
  return {
    http,
    id,
    namespace: id,
    core: rest => `/api/v1/namespaces/${id}/${rest}`,
    group: (groupVersion, rest) => `/apis/${groupVersion}/namespaces/${id}/${rest}`,
    async eventually(ask, right) {
      for (const end = Date.now() + patienceMs; ; ) {
        const response = await ask()
        if (right(response)) return response
        if (Date.now() > end) throw new Error(`never became right; last: ${JSON.stringify(response)}`)
        await new Promise(resolve => setTimeout(resolve, pollMs))
      }
    },
  }
}
