// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Agent, fetch as undiciFetch } from 'undici'
import { MemoryCertificateSource } from '../certificates/index.ts'
import { issueAuthority } from '../certificates/issue.ts'
import { FakeClock, systemClock } from '../clock/index.ts'
import { createRegistry } from '../metrics/index.ts'
import { type AccessCheck, type Reviewer, reviewedAccess, reviewerOf } from './access.ts'
import { HttpEndpoint } from './endpoint.ts'
import { metricsEndpoint } from './metrics-endpoint.ts'
import { Probe } from './probes.ts'
import { profilingEndpoint } from './profiling.ts'

const address = { host: '127.0.0.1', port: 0 }
const open: HttpEndpoint[] = []
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.stop()
})

async function started(endpoint: HttpEndpoint) {
  open.push(endpoint)
  await endpoint.start()
  return async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${endpoint.port}${path}`, { headers })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: await response.text(),
    }
  }
}

describe('probes', () => {
  const good = () => {}
  const bad = () => {
    throw new Error('certificates are not ready yet')
  }
  const get = (checks: Record<string, () => void | Promise<void>>) => {
    const probe = new Probe('/readyz', systemClock)
    for (const [name, check] of Object.entries(checks)) probe.add(name, check)
    return started(new HttpEndpoint('probes', address, url => probe.respond(url)))
  }

  /** Path, checks, status, body: exactly what other tools expect. */
  const rows: readonly [string, Parameters<typeof get>[0], number, string][] = [
    ['/readyz', {}, 200, 'ok'],
    ['/readyz?verbose', {}, 200, '[+]ping ok\nhealthz check passed\n'],
    ['/readyz/ping', {}, 200, 'ok'],
    ['/readyz', { readyz: good }, 200, 'ok'],
    ['/readyz/', { readyz: good }, 200, 'ok'],
    ['/readyz?verbose', { readyz: good }, 200, '[+]readyz ok\nhealthz check passed\n'],
    ['/readyz?verbose=1', { z: good, a: good }, 200, '[+]a ok\n[+]z ok\nhealthz check passed\n'],
    ['/readyz/readyz', { readyz: good }, 200, 'ok'],
    ['/readyz', { readyz: bad }, 500, '[-]readyz failed: reason withheld\nhealthz check failed\n'],
    ['/readyz', { a: good, b: bad }, 500, '[+]a ok\n[-]b failed: reason withheld\nhealthz check failed\n'],
    ['/readyz/readyz', { readyz: bad }, 500, 'internal server error: certificates are not ready yet\n'],
    ['/readyz?exclude=b', { a: good, b: bad }, 200, 'ok'],
    [
      '/readyz?exclude=b&verbose',
      { a: good, b: bad },
      200,
      '[+]a ok\n[+]b excluded: ok\nhealthz check passed\n',
    ],
    [
      '/readyz?exclude=x&exclude=y&verbose',
      { a: good },
      200,
      '[+]a ok\nwarn: some health checks cannot be excluded: no matches for "x","y"\nhealthz check passed\n',
    ],
    ['/readyz/readyz', { a: good, b: good }, 200, 'ok'],
    ['/readyz/readyz', { a: good, b: bad }, 500, 'internal server error: certificates are not ready yet\n'],
    ['/readyz/nothing', { a: good }, 404, '404 page not found\n'],
    ['/other', { a: good }, 404, '404 page not found\n'],
  ]
  for (const [path, checks, status, body] of rows)
    it(`respond to ${path} with checks {${Object.entries(checks).map(([name, check]) => `${name} ${check === bad ? 'bad' : 'good'}`)}}: ${status}`, async () => {
      const response = await (await get(checks))(path)
      assert.deepEqual(response, { status, body, type: 'text/plain; charset=utf-8' })
    })

  it('count a hanging check as failed', async () => {
    const clock = new FakeClock()
    const probe = new Probe('/healthz', clock)
    probe.add('hangs', () => new Promise(() => {}))
    const response = probe.respond(new URL('http://x/healthz/hangs'))
    await clock.advance(10_000)
    assert.equal((await response)?.body, 'internal server error: the check did not end in time\n')
  })
})

describe('the metrics endpoint', () => {
  const metrics = (access?: AccessCheck) =>
    started(metricsEndpoint({ ...address, ...(access && { access }) }, createRegistry()))

  it('serves the Prometheus text format at /metrics only', async () => {
    const get = await metrics()
    const response = await get('/metrics')
    assert.equal(response.status, 200)
    assert.equal(response.type, 'text/plain; version=0.0.4; charset=utf-8')
    assert.match(response.body, /process_cpu_seconds_total/)
    assert.equal((await get('/')).status, 404)
    assert.equal((await get('//')).status, 404)
  })

  it('allows only clients that the API server authenticates and authorizes, and caches its results', async () => {
    const requests: string[] = []
    const reviewer: Reviewer = {
      authenticate: async token => {
        requests.push(`who is ${token}`)
        return token === 'stranger' ? undefined : { username: token }
      },
      authorize: async ({ username }, verb, path) => {
        requests.push(`may ${username} ${verb} ${path}`)
        return username === 'prometheus'
      },
    }
    const clock = new FakeClock()
    const get = await metrics(reviewedAccess(reviewer, clock))
    const as = (token: string) => get('/metrics', { authorization: `Bearer ${token}` })
    assert.deepEqual([(await get('/metrics')).status, (await get('/metrics')).body], [401, 'Unauthorized\n'])
    assert.equal((await as('stranger')).status, 401)
    assert.equal((await as('alice')).body, 'Authorization denied for user alice\n')
    assert.equal((await as('prometheus')).status, 200)
    assert.equal((await as('prometheus')).status, 200)
    const expected = [
      'who is stranger',
      'who is alice',
      'may alice get /metrics',
      'who is prometheus',
      'may prometheus get /metrics',
    ]
    assert.deepEqual(requests, expected)
    await clock.advance(61_000)
    await as('prometheus')
    assert.deepEqual(
      requests.slice(expected.length),
      ['who is prometheus'],
      'the result is cached for longer',
    )
  })

  it('shares one review among requests with the same token, and limits concurrent reviews', async () => {
    const responses = Promise.withResolvers<undefined>()
    const requests: string[] = []
    const reviewer: Reviewer = {
      authenticate: token => {
        requests.push(token)
        return responses.promise
      },
      authorize: async () => true,
    }
    const get = await metrics(reviewedAccess(reviewer, new FakeClock()))
    const as = (token: string) => get('/metrics', { authorization: `Bearer ${token}` })
    const first = Array.from({ length: 10 }, (_, index) => as(`token-${index}`))
    while (requests.length < 10) await new Promise(resolve => setImmediate(resolve))
    const again = as('token-0')
    assert.equal((await as('one-more')).status, 429)
    responses.resolve(undefined)
    for (const response of await Promise.all([...first, again])) assert.equal(response.status, 401)
    assert.equal(requests.length, 10)
    assert.equal((await as('one-more')).status, 401, 'the 429 must not be cached')
  })

  it('reports a failure if the API server is unreachable', async () => {
    const failing = () => Promise.reject(new Error('no route to host'))
    const get = await metrics(reviewedAccess({ authenticate: failing, authorize: failing }, systemClock))
    assert.equal((await get('/metrics', { authorization: 'Bearer x' })).status, 500)
  })

  it('uses TokenReview and SubjectAccessReview', async () => {
    const bodies: object[] = []
    const reviewer = reviewerOf({
      raw: async ({ path, body }) => {
        bodies.push(body as object)
        return path.endsWith('/tokenreviews')
          ? { status: { authenticated: true, user: { username: 'p', groups: ['g'] } } }
          : { status: { allowed: true } }
      },
    })
    const user = await reviewer.authenticate('secret')
    assert.equal(await reviewer.authorize(user!, 'get', '/metrics'), true)
    assert.deepEqual(bodies, [
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'secret' } },
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'p',
          uid: undefined,
          groups: ['g'],
          extra: undefined,
          nonResourceAttributes: { verb: 'get', path: '/metrics' },
        },
      },
    ])
  })

  it('uses TLS with a certificate that may arrive and change later', async () => {
    const request = {
      commonName: 'x',
      names: ['localhost'],
      notBefore: 0,
      notAfter: 4e12,
      key: 'ecdsa-p256' as const,
    }
    const certificates = new MemoryCertificateSource()
    const endpoint = metricsEndpoint({ ...address, certificates }, createRegistry())
    open.push(endpoint)
    await endpoint.start()
    const get = async (ca: string) => {
      const dispatcher = new Agent({ connect: { ca, servername: 'localhost' } })
      const response = await undiciFetch(`https://127.0.0.1:${endpoint.port}/metrics`, { dispatcher })
      await response.text()
      await dispatcher.close()
      return response.status
    }
    await assert.rejects(get(''))
    for (let i = 0; i < 2; i++) {
      const pair = await issueAuthority(request)
      certificates.set(pair)
      assert.equal(await get(pair.cert), 200)
    }
  })
})

describe('the profiling endpoint', () => {
  it('serves a CPU profile, an allocation profile and a heap snapshot', async () => {
    const get = await started(profilingEndpoint(address, systemClock))
    assert.match((await get('/debug/pprof/')).body, /profile\?seconds=/)
    const cpu = JSON.parse((await get('/debug/pprof/profile?seconds=0.05')).body) as { nodes: unknown[] }
    assert.ok(cpu.nodes.length > 0)
    const allocations = JSON.parse((await get('/debug/pprof/allocs?seconds=0.05')).body) as { head: object }
    assert.ok(allocations.head)
    const heap = JSON.parse((await get('/debug/pprof/heap')).body) as { snapshot: object }
    assert.ok(heap.snapshot)
    assert.equal((await get('/debug/pprof/nothing')).status, 404)
    assert.ok((await get('/debug/pprof/cmdline')).body.startsWith(process.argv[0]!))
  })

  it('rejects a heap snapshot, which contains secrets, unless it listens on loopback only', async () => {
    const get = await started(profilingEndpoint({ host: '0.0.0.0', port: 0 }, systemClock))
    const rejected = await get('/debug/pprof/heap')
    assert.equal(rejected.status, 403)
    assert.match(rejected.body, /served on loopback only/)
    assert.equal((await get('/debug/pprof/profile?seconds=0.05')).status, 200)
  })

  it('takes one profile at a time', async () => {
    const clock = new FakeClock()
    const get = await started(profilingEndpoint(address, clock))
    const first = get('/debug/pprof/profile')
    while (clock.pendingTimers === 0) await clock.flushPromises()
    assert.equal((await get('/debug/pprof/profile')).status, 409)
    await clock.advance(30_000)
    assert.equal((await first).status, 200)
  })
})

describe('Endpoint', () => {
  it('responds with 500 if its handler throws, and keeps serving', async () => {
    const get = await started(
      new HttpEndpoint('test', address, url => {
        if (url.pathname === '/bad') throw new Error('secret detail')
        return { status: 200, body: 'fine' }
      }),
    )
    assert.deepEqual(await get('/bad'), {
      status: 500,
      type: 'text/plain; charset=utf-8',
      body: 'internal server error\n',
    })
    assert.equal((await get('/good')).body, 'fine')
  })

  it('rejects if it cannot listen', async () => {
    const first = new HttpEndpoint('test', address, () => undefined)
    await started(first)
    const second = new HttpEndpoint('test', { ...address, port: first.port! }, () => undefined)
    await assert.rejects(second.start(), /^Error: cannot serve test: listen EADDRINUSE/)
  })
})
