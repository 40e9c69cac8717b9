// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { added, bookmark, deleted, gone, modified, run, versions } from './testing/scripted-run.ts'
import {
  endingWatch,
  ImmediateClock,
  list,
  pod,
  ScriptedServer as Server,
  type Step,
  status,
  watch,
} from './testing/scripted-server.ts'
import { runWaiter } from './waiter.ts'

describe('runWaiter', () => {
  it('exits at once if the first list has enough ready pods', async () => {
    await using server = await Server.following(list('7', [pod('a-1', 'a', true), pod('a-2', 'a', true)]))
    const { code, lines } = await run(server, ['--podcliques=a:2'])
    assert.equal(code, 0)
    assert.deepEqual(lines, [
      'starts after these PodCliques of namespace team have ready pods: a (2)',
      'done: a 2/2 ready',
    ])
    assert.deepEqual(server.requests, [
      {
        path: '/api/v1/namespaces/team/pods',
        query: { labelSelector: 'grove.io/podclique in (a)', resourceVersion: '0', limit: '100' },
        token: 'first-token',
      },
    ])
  })

  it('watches from the version of the list, until all minimums hold at the same time', async () => {
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
    assert.equal(server.requests[1]?.query.resourceVersion, '7')
    assert.equal(server.requests[1]?.query.allowWatchBookmarks, 'true')
    assert.equal(server.requests[1]?.query.labelSelector, 'grove.io/podclique in (a,b)')
    assert.deepEqual(lines.slice(1), [
      'waiting for: a 0/1 ready',
      'waiting for: a 0/1 ready, b 0/1 ready',
      'waiting for: b 0/1 ready',
      'waiting for: a 0/1 ready, b 0/1 ready',
      'waiting for: a 0/1 ready',
      'done: a 1/1 ready, b 1/1 ready',
    ])
  })

  it('evaluates a list in pages only after the last page', async () => {
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)], 'next'),
      list('7', [pod('b-1', 'b', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:1', '-p', 'b:1'])).code, 0)
    assert.equal(server.requests[1]?.query.continue, 'next')
    assert.equal(server.requests[1]?.query.resourceVersion, undefined)
  })

  it('starts the list again if a page has expired', async () => {
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)], 'next'),
      status(410, 'The provided continue parameter is too old'),
      list('9', [pod('a-2', 'a', true), pod('a-3', 'a', true)]),
    )
    assert.equal((await run(server, ['-p', 'a:2'])).code, 0)
    assert.deepEqual(versions(server), ['0', undefined, ''])
  })

  it('resumes a watch that ended from its last event or bookmark', async () => {
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
    it(`lists again if its version has expired (${how}), and drops deleted pods`, async () => {
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

  it('exits with 1 when it is stopped, during a watch or a back-off', async () => {
    for (const last of [watch(), status(500, 'x')]) {
      const stop = new AbortController()
      await using server = await Server.following(list('7', []), (response, requests) => {
        last(response, requests)
        setImmediate(() => stop.abort())
      })
      const { code, lines } = await run(server, ['-p', 'a:1'], { signal: stop.signal })
      assert.equal(code, 1)
      assert.equal(lines.at(-1), 'stopped while waiting for: a 0/1 ready')
    }
  })

  it('repeats the missing parents and the last failure', async () => {
    const clock = new ImmediateClock()
    await using server = await Server.following(
      list('7', [pod('a-1', 'a', true)]),
      (response, requests) => {
        clock.remind()
        status(403, 'pods is forbidden')(response, requests)
      },
      (response, requests) => {
        clock.remind()
        watch(added('a-2', 'a', true, '8'))(response, requests)
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

describe('runWaiter without an API server', () => {
  const alone = async (args: readonly string[], environment: Record<string, string> = {}) => {
    const lines: string[] = []
    const code = await runWaiter({ args, environment, log: line => lines.push(line) })
    return { code, lines }
  }

  it('exits at once without parents', async () =>
    assert.deepEqual(await alone(['-p', ' ']), { code: 0, lines: ['done: nothing to wait for'] }))

  it('rejects invalid arguments', async () => {
    const { code, lines } = await alone(['-p', 'a'])
    assert.equal(code, 1)
    assert.match(lines.join('\n'), /^error: "a" is not <name>:<count>/)
  })

  it('reports what is missing outside a pod', async () => {
    const { code, lines } = await alone(['-p', 'a:1'], { GROVE_WAITER_POD_INFO: '/nowhere' })
    assert.equal(code, 1)
    assert.match(lines.join('\n'), /^error: cannot read the namespace of the pod: .*\/nowhere\/namespace/)
  })

  it('runs in process on any transport', async () => {
    const code = await runWaiter({
      args: ['--podcliques=a:1'],
      namespace: 'team',
      clock: new ImmediateClock(),
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
