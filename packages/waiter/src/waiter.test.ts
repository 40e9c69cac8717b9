// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  cut,
  endingWatch,
  HurriedClock,
  list,
  pod,
  ScriptedServer as Server,
  type Step,
  status,
  watch,
} from './scripted-server.ts'
import { runWaiter, type WaiterOptions } from './waiter.ts'

interface Run {
  readonly code: number
  readonly lines: string[]
  readonly pauses: readonly number[]
}

async function run(
  server: Server,
  words: readonly string[],
  options: Partial<WaiterOptions> = {},
): Promise<Run> {
  const lines: string[] = []
  const clock = new HurriedClock()
  const transport = server.connection
  try {
    const code = await runWaiter({
      words,
      namespace: 'team',
      transport,
      clock,
      random: () => 0.5,
      log: line => lines.push(line),
      ...options,
    })
    return { code, lines, pauses: clock.pauses }
  } finally {
    transport.close()
  }
}

const added = (...pod_: Parameters<typeof pod>) => ({ type: 'ADDED', object: pod(...pod_) })
const modified = (...pod_: Parameters<typeof pod>) => ({ type: 'MODIFIED', object: pod(...pod_) })
const deleted = (...pod_: Parameters<typeof pod>) => ({ type: 'DELETED', object: pod(...pod_) })
const bookmark = (version: string) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: version } },
})
const gone = { type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old resource version' } }
const versions = (server: Server) => server.asked.map(({ query }) => query.resourceVersion)

describe('the waiter', () => {
  it('is done at once when the first list has enough', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true), pod('a-2', 'a', true)]))
    const { code, lines } = await run(server, ['--podcliques=a:2'])
    assert.equal(code, 0)
    assert.deepEqual(lines, [
      'starts after these PodCliques of namespace team have ready pods: a (2)',
      'done: a 2/2 ready',
    ])
    assert.deepEqual(server.asked, [
      {
        path: '/api/v1/namespaces/team/pods',
        query: { labelSelector: 'grove.io/podclique in (a)', resourceVersion: '0', limit: '100' },
        token: 'first-token',
      },
    ])
  })

  it('watches from where the list ended, until all thresholds hold together', async () => {
    await using server = await Server.following(
      list('7', [pod('b-1', 'b', true)]),
      watch(
        added('a-1', 'a', false, '8'),
        modified('b-1', 'b', false, '9'),
        modified('a-1', 'a', true, '10'),
        deleted('a-1', 'a', true, '11'),
        added('b-2', 'b', true, '12'),
        added('a-2', 'a', true, '13'),
      ),
    )
    const { code, lines } = await run(server, ['-p', 'a:1', '-p', 'b:1'])
    assert.equal(code, 0)
    assert.equal(server.asked[1]?.query.resourceVersion, '7')
    assert.equal(server.asked[1]?.query.allowWatchBookmarks, 'true')
    assert.equal(server.asked[1]?.query.labelSelector, 'grove.io/podclique in (a,b)')
    assert.deepEqual(lines.slice(1), [
      'waiting for: a 0/1 ready',
      'waiting for: a 0/1 ready, b 0/1 ready',
      'waiting for: b 0/1 ready',
      'waiting for: a 0/1 ready, b 0/1 ready',
      'waiting for: a 0/1 ready',
      'done: a 1/1 ready, b 1/1 ready',
    ])
  })

  it('looks at a list in pages only when the last page is there', async () => {
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)], 'next'),
      list('7', [pod('b-1', 'b', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:1', '-p', 'b:1'])).code, 0)
    assert.equal(server.asked[1]?.query.continue, 'next')
    assert.equal(server.asked[1]?.query.resourceVersion, undefined)
  })

  it('starts the list again when a page has expired', async () => {
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)], 'next'),
      status(410, 'The provided continue parameter is too old'),
      list('9', [pod('a-2', 'a', true), pod('a-3', 'a', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:2'])).code, 0)
    assert.deepEqual(versions(server), ['0', undefined, ''])
  })

  it('goes on after a watch that ended from its last event or bookmark', async () => {
    await using server = await Server.following(
      list('7', []),
      endingWatch(added('a-1', 'a', false, '8')),
      endingWatch(bookmark('20')),
      watch(modified('a-1', 'a', true, '21')),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(versions(server), ['0', '7', '8', '20'])
  })

  const tooOld: [how: string, step: Step][] = [
    ['by an event', watch(gone)],
    ['by its status', status(410, 'Expired')],
  ]
  for (const [how, step] of tooOld)
    it(`lists anew when its version is too old, told ${how}, and forgets what is no longer there`, async () => {
      await using server = await Server.following(
        list('7', [pod('a-1', 'a', true)]),
        step,
        list('30', [pod('a-2', 'a', true)]),
        watch(added('a-3', 'a', true, '31')),
      )
      const { code, lines } = await run(server, ['-p', 'a:2'])
      assert.equal(code, 0)
      assert.deepEqual(versions(server), ['0', '7', '', '30'])
      assert.equal(lines.at(-1), 'done: a 2/2 ready')
    })

  it('tolerates every answer that is not the right one', async () => {
    const answers: Step[] = [
      status(401, 'Unauthorized'),
      status(403, 'pods is forbidden'),
      status(404, 'not found'),
      status(429, 'too many requests'),
      status(500, 'etcd is away'),
      status(502, '<html>bad gateway</html>'),
      status(503, 'unavailable'),
      status(301, 'elsewhere'),
      cut(),
      cut('{"metadata":{"resourceVersion":"7"},"items":[{"metada'),
      response => void response.end('<html>a portal</html>'),
    ]
    await using server = await Server.following(
      ...answers,
      list('7', []),
      // Three failures for the watch, the rest for the list that takes its place.
      ...answers.slice(0, -2),
      list('8', []),
      watch(added('a-1', 'a', true, '9')),
    )
    const { code, lines } = await run(server, ['-p', 'a:1'])
    assert.equal(code, 0)
    assert.ok(lines.includes('cannot watch pods, trying again: 403 pods is forbidden'))
    assert.equal(lines.filter(line => line.includes('forbidden')).length, 1)
  })

  it('takes a watch that is cut in the middle of a line for cut, and the line for not said', async () => {
    const line = JSON.stringify(added('ä-1', 'a', true, '9'))
    await using server = await Server.following(
      list('7', []),
      cut(`${JSON.stringify(bookmark('8'))}\n${line.slice(0, -2)}`),
      watch(added('a-1', 'a', true, '9')),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(versions(server), ['0', '7', '8'])
  })

  it('reads events wherever their bytes were cut', async () => {
    const bytes = Buffer.from(`${JSON.stringify(added('ä-1', 'a', true, '9'))}\n`)
    await using server = await Server.following(list('7', []), async response => {
      for (const byte of bytes) await new Promise(done => response.write(Buffer.of(byte), done))
    })
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
  })

  it('reads the token again for each request', async () => {
    await using server = await Server.following(
      (response, asked) => {
        server.writeToken('second-token\n')
        status(401, 'Unauthorized')(response, asked)
      },
      list('7', [pod('a-1', 'a', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(
      server.asked.map(({ token }) => token),
      ['first-token', 'second-token'],
    )
  })

  it('waits for a token that is not mounted yet', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true)]))
    rmSync(join(server.directory, 'token'))
    const clock = new HurriedClock(async pauses => {
      if (pauses === 3) server.writeToken('late')
    })
    assert.equal((await run(server, ['-p', 'a:1'], { clock })).code, 0)
    assert.equal(server.asked[0]?.token, 'late')
  })

  it('waits for an API server that is not there', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true)]))
    await server.close()
    const clock = new HurriedClock(async pauses => {
      if (pauses === 5) await server.listen()
    })
    const { code, lines } = await run(server, ['-p', 'a:1'], { clock })
    assert.equal(code, 0)
    assert.match(lines[1]!, /ECONNREFUSED/)
  })

  it('waits at least as long as the server asks for, and longer after each failure', async () => {
    await using server = await Server.following(
      status(500, 'x'),
      status(500, 'x'),
      status(429, 'slow down', { 'retry-after': '7' }),
      status(429, 'slow down', { 'retry-after': '86400' }),
      list('7', [pod('a-1', 'a', true)]),
    )
    const { pauses } = await run(server, ['-p', 'a:1'])
    assert.deepEqual(pauses, [50, 150, 300, 7_600, 31_200])
  })

  it('gives up a connection on which nothing comes', async () => {
    await using server = await Server.following(
      () => {},
      list('7', []),
      watch(),
      watch(added('a-1', 'a', true, '8')),
    )
    const { code, lines } = await run(server, ['-p', 'a:1'], {
      timing: { listSilenceMs: 20, watchSilenceMs: 20 },
    })
    assert.equal(code, 0)
    assert.equal(lines.filter(line => line.includes('has been silent for 0.02 s')).length, 1)
    assert.deepEqual(versions(server), ['0', '0', '7', '7'])
  })

  it('lists anew when a watch fails again and again', async () => {
    const restored = status(504, 'Too large resource version')
    await using server = await Server.following(
      list('7000', []),
      restored,
      restored,
      restored,
      list('3', [pod('a-1', 'a', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(versions(server), ['0', '7000', '7000', '7000', ''])
  })

  it('exits with 1 when it is told to stop, waiting for events or for the next try', async () => {
    for (const last of [watch(), status(500, 'x')]) {
      const stop = new AbortController()
      await using server = await Server.following(list('7', []), (response, asked) => {
        last(response, asked)
        setImmediate(() => stop.abort())
      })
      const { code, lines } = await run(server, ['-p', 'a:1'], { signal: stop.signal })
      assert.equal(code, 1)
      assert.equal(lines.at(-1), 'stopped while waiting for: a 0/1 ready')
    }
  })

  it('reminds of what is missing, and of what is wrong', async () => {
    const clock = new HurriedClock()
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)]),
      (response, asked) => {
        clock.remind()
        status(403, 'pods is forbidden')(response, asked)
      },
      (response, asked) => {
        clock.remind()
        watch(added('a-2', 'a', true, '8'))(response, asked)
      },
    )
    const { lines } = await run(server, ['-p', 'a:2'], { clock })
    assert.deepEqual(lines.slice(1), [
      'waiting for: a 1/2 ready',
      'waiting for: a 1/2 ready',
      'cannot watch pods, trying again: 403 pods is forbidden',
      'waiting for: a 1/2 ready (as last seen; cannot watch pods: 403 pods is forbidden)',
      'done: a 2/2 ready',
    ])
  })
})

describe('the waiter without an API server', () => {
  const alone = async (words: readonly string[], environment: Record<string, string> = {}) => {
    const lines: string[] = []
    const code = await runWaiter({ words, environment, log: line => lines.push(line) })
    return { code, lines }
  }

  it('has nothing to wait for without parents', async () =>
    assert.deepEqual(await alone(['-p', ' ']), { code: 0, lines: ['done: nothing to wait for'] }))

  it('refuses a wrong command line', async () => {
    const { code, lines } = await alone(['-p', 'a'])
    assert.equal(code, 1)
    assert.match(lines.join('\n'), /^error: "a" is not <name>:<count>/)
  })

  it('says what is missing where it does not run in a pod', async () => {
    const { code, lines } = await alone(['-p', 'a:1'], { GROVE_WAITER_POD_INFO: '/nowhere' })
    assert.equal(code, 1)
    assert.match(lines.join('\n'), /^error: cannot read the namespace of the pod: .*\/nowhere\/namespace/)
  })

  it('runs in process on any transport', async () => {
    const code = await runWaiter({
      words: ['--podcliques=a:1'],
      namespace: 'team',
      clock: new HurriedClock(),
      log: () => {},
      transport: {
        async stream() {
          const text = JSON.stringify({
            metadata: { resourceVersion: '1' },
            items: [pod('a-1', 'a', true)],
          })
          return { status: 200, headers: {}, body: ReadableStream.from([Buffer.from(text)]) }
        },
      },
    })
    assert.equal(code, 0)
  })
})
