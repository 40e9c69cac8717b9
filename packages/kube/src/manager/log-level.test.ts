// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLogger } from '../log/index.ts'
import { createRegistry } from '../metrics/index.ts'
import type { AccessCheck } from './access.ts'
import { text } from './endpoint.ts'
import { metricsEndpoint } from './metrics-endpoint.ts'

const token = 'Bearer good'
const access: AccessCheck = async ({ headers }) =>
  headers.authorization === token ? undefined : text(403, 'Authorization denied\n')

async function withEndpoint(
  check: AccessCheck | undefined,
  use: (
    request: (method: string, query?: string, authorization?: string) => Promise<Response>,
    lines: string[],
  ) => Promise<void>,
): Promise<void> {
  const lines: string[] = []
  const log = createLogger({ write: line => lines.push(line) })
  const controllers = ['podclique', 'podcliqueset'].map(controller => log.child({ controller }))
  const endpoint = metricsEndpoint(
    { host: '127.0.0.1', port: 0, logLevels: log.levels, ...(check && { access: check }) },
    createRegistry(),
    log,
  )
  await endpoint.start()
  try {
    await use((method, query = '', authorization = token) => {
      for (const controller of controllers) controller.debug('before')
      return fetch(`http://127.0.0.1:${endpoint.port}/debug/loglevel${query}`, {
        method,
        headers: { authorization },
      })
    }, lines)
    for (const controller of controllers) controller.debug('after')
  } finally {
    await endpoint.stop()
  }
}

describe('the endpoint of log levels', () => {
  test('changes the level of one area and leaves the others', async () => {
    await withEndpoint(access, async (request, lines) => {
      const response = await request('PUT', '?area=podclique&level=debug')
      assert.deepEqual(await response.json(), {
        default: 'info',
        areas: { podclique: 'debug', podcliqueset: 'info' },
      })
      await request('GET')
      const debug = lines.map(line => JSON.parse(line)).filter(({ level }) => level === 'debug')
      assert.deepEqual(
        debug.map(({ controller, msg }) => [controller, msg]),
        [['podclique', 'before']],
      )
    })
  })

  test('changes the default level, and returns an area to it', async () => {
    await withEndpoint(access, async request => {
      await request('PUT', '?area=podclique&level=error')
      await request('PUT', '?level=debug')
      assert.deepEqual(await (await request('GET')).json(), {
        default: 'debug',
        areas: { podclique: 'error', podcliqueset: 'debug' },
      })
      await request('PUT', '?area=podclique&level=default')
      assert.deepEqual(await (await request('GET')).json(), {
        default: 'debug',
        areas: { podclique: 'debug', podcliqueset: 'debug' },
      })
    })
  })

  test('logs each change', async () => {
    await withEndpoint(access, async (request, lines) => {
      await request('PUT', '?area=podclique&level=debug')
      assert.match(lines.join(''), /"changed":"podclique","to":"debug","msg":"Log level changed"/)
    })
  })

  const mistakes: [title: string, method: string, query: string, status: number, message: RegExp][] = [
    ['an unknown level', 'PUT', '?level=loud', 400, /level must be one of debug, info, warn, error/],
    ['a missing level', 'PUT', '?area=podclique', 400, /level must be one of/],
    ['an unknown area', 'PUT', '?area=nodes&level=info', 404, /areas: podclique, podcliqueset/],
    ['another method', 'POST', '?level=info', 405, /use GET, or PUT/],
  ]
  for (const [title, method, query, status, message] of mistakes)
    test(`rejects ${title} and changes nothing`, async () => {
      await withEndpoint(access, async request => {
        const response = await request(method, query)
        assert.equal(response.status, status)
        assert.match(await response.text(), message)
        assert.match(await (await request('GET')).text(), /^{"default":"info"/)
      })
    })

  test('rejects unauthorized clients', async () => {
    await withEndpoint(access, async request => {
      assert.equal((await request('PUT', '?level=debug', 'Bearer bad')).status, 403)
      assert.match(await (await request('GET')).text(), /^{"default":"info"/)
    })
  })

  test('is not served without an access check', async () => {
    await withEndpoint(undefined, async request => {
      assert.equal((await request('PUT', '?level=debug')).status, 404)
    })
  })
})
