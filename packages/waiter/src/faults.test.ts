// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { added, bookmark, run, versions } from './testing/scripted-run.ts'
import {
  cut,
  ImmediateClock,
  list,
  pod,
  ScriptedServer as Server,
  type Step,
  status,
  watch,
} from './testing/scripted-server.ts'

describe('the waiter behind a faulty connection', () => {
  it('tolerates every unexpected response', async () => {
    const responses: Step[] = [
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
      ...responses,
      list('7', []),
      // Three failures of the watch, then failures of the list that replaces it.
      ...responses.slice(0, -2),
      list('8', []),
      watch(added('a-1', 'a', true, '9')),
    )
    const { code, lines } = await run(server, ['-p', 'a:1'])
    assert.equal(code, 0)
    assert.ok(lines.includes('cannot watch pods, trying again: 403 pods is forbidden'))
    assert.equal(lines.filter(line => line.includes('forbidden')).length, 1)
  })

  it('drops a truncated line when a watch is cut', async () => {
    const line = JSON.stringify(added('ä-1', 'a', true, '9'))
    await using server = await Server.following(
      list('7', []),
      cut(`${JSON.stringify(bookmark('8'))}\n${line.slice(0, -2)}`),
      watch(added('a-1', 'a', true, '9')),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(versions(server), ['0', '7', '8'])
  })

  it('parses events for any chunks of bytes', async () => {
    const bytes = Buffer.from(`${JSON.stringify(added('ä-1', 'a', true, '9'))}\n`)
    await using server = await Server.following(list('7', []), async response => {
      for (const byte of bytes) await new Promise(done => response.write(Buffer.of(byte), done))
    })
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
  })

  it('reads the token for each request', async () => {
    await using server = await Server.following(
      (response, requests) => {
        server.writeToken('second-token\n')
        status(401, 'Unauthorized')(response, requests)
      },
      list('7', [pod('a-1', 'a', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:1'])).code, 0)
    assert.deepEqual(
      server.requests.map(({ token }) => token),
      ['first-token', 'second-token'],
    )
  })

  it('waits for a token that is not mounted yet', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true)]))
    rmSync(join(server.directory, 'token'))
    const clock = new ImmediateClock(async pauses => {
      if (pauses === 3) server.writeToken('late')
    })
    assert.equal((await run(server, ['-p', 'a:1'], { clock })).code, 0)
    assert.equal(server.requests[0]?.token, 'late')
  })

  it('waits for an API server that is down', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true)]))
    await server.close()
    const clock = new ImmediateClock(async pauses => {
      if (pauses === 5) await server.listen()
    })
    const { code, lines } = await run(server, ['-p', 'a:1'], { clock })
    assert.equal(code, 0)
    assert.match(lines[1]!, /ECONNREFUSED/)
  })

  it('waits at least as long as Retry-After, and longer after each failure', async () => {
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

  it('closes a silent connection', async () => {
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

  it('lists again when a watch fails repeatedly', async () => {
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
})
