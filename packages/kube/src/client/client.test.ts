// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { failure, SimulatedServer, scripted } from '../testing/simulated-server.ts'
import { type Thing, things } from '../testing/things.ts'
import type { Client } from './client.ts'
import { type ClientOptions, createClientOn } from './create-client.ts'
import type { Credentials } from './credentials.ts'
import { isKubeError, KubeError, outcome } from './error.ts'
import type { RequestReport } from './requester.ts'
import type { Transport, TransportResponse } from './transport.ts'

function clientOn(transport: Transport, options: ClientOptions & { credentials?: Credentials } = {}): Client {
  return createClientOn(transport, { random: () => 0.5, ...options })
}

const object = { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' }, kind: 'Thing' }
const okResponse: TransportResponse = { status: 200, headers: {}, body: JSON.stringify(object) }
const ref = { namespace: 'ns', name: 'a' }
const root = '/apis/example.com/v1/namespaces/ns/things'

describe('managedFields', () => {
  const whole = { ...object, metadata: { ...object.metadata, managedFields: [{ manager: 'm' }] } }
  const response = (body: object) =>
    scripted({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) })
  const list = { kind: 'ThingList', metadata: { resourceVersion: '1' }, items: [whole] }
  const watching: Transport = {
    ...response({}),
    stream: async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from(`${JSON.stringify({ type: 'ADDED', object: whole })}\n`)
      })(),
    }),
  }

  /** Returns the results of each verb. */
  async function returned(options: ClientOptions, managedFields?: boolean): Promise<unknown[]> {
    const client = clientOn(response(whole), options)
    const listing = clientOn(response(list), options)
    const all: unknown[] = [
      await client.get(things, ref, { managedFields }),
      await client.create(things, object, { managedFields }),
      await client.patch(things, ref, { merge: {} }, { managedFields }),
      (await client.delete(things, ref, { managedFields })).object,
      (await listing.list(things, { managedFields })).items[0],
      (await listing.deleteCollection(things, { managedFields })).items[0],
    ]
    await clientOn(watching, options).watch(things, { managedFields }, event => {
      if (event.type !== 'BOOKMARK') all.push(event.object)
    })
    return all
  }

  it('are returned unless the client or the request disables them', async () => {
    assert.deepEqual(await returned({}), Array(7).fill(whole))
    assert.deepEqual(await returned({ managedFields: false }), Array(7).fill(object))
    assert.deepEqual(await returned({}, false), Array(7).fill(object))
    assert.deepEqual(await returned({ managedFields: false }, true), Array(7).fill(whole))
  })
})

describe('errors', () => {
  it('carry the code, message and causes of the server', async () => {
    const details = { name: 'a', kind: 'Thing', causes: [{ field: 'spec.size', message: 'too big' }] }
    const client = clientOn(scripted(failure(422, 'Invalid', {}, { message: 'spec.size: too big', details })))
    const result = await outcome(client.get(things, ref))
    assert.ok(!result.ok)
    const { code, status, message, request } = result.error
    assert.deepEqual(
      { code, status, message },
      { code: 'Invalid', status: 422, message: 'spec.size: too big' },
    )
    assert.deepEqual(result.error.details, details)
    assert.deepEqual(request, { verb: 'get', path: `${root}/a` })
  })

  it('have a code even if a proxy sent a page instead of a Status', async () => {
    const client = clientOn(scripted({ status: 413, headers: {}, body: '<html>too large</html>' }))
    const error = await client.get(things, ref).catch((e: unknown) => e)
    assert.ok(isKubeError(error, 'TooLarge'))
    assert.match(error.message, /too large/)
  })

  it('carry the message of a Status without kind', async () => {
    const status = { status: 'Failure', reason: 'Timeout', message: 'the time is over', code: 504 }
    const client = clientOn(
      scripted({ status: 504, headers: {}, body: JSON.stringify({ metadata: {}, ...status }) }),
    )
    const error = await client.create(things, { metadata: ref }).catch((e: unknown) => e)
    assert.ok(isKubeError(error, 'Timeout'))
    assert.equal(error.message, 'the time is over')
  })

  for (const body of ['null', '[]', '"text"', '{}', '{"error":"busy"}', '{"items":{}}', '{"items":[null]}'])
    it(`report that ${body} is not a list`, async () => {
      const client = clientOn(scripted({ status: 200, headers: {}, body }))
      await assert.rejects(client.list(things), error => isKubeError(error, 'Malformed'))
    })

  it('report a response that is not JSON', async () => {
    const client = clientOn(scripted({ status: 200, headers: {}, body: 'hello' }))
    await assert.rejects(client.get(things, ref), error => isKubeError(error, 'Malformed'))
  })

  it('find returns undefined for a missing object, and throws all other errors', async () => {
    assert.equal(await clientOn(scripted(failure(404, 'NotFound'))).find(things, ref), undefined)
    await assert.rejects(clientOn(scripted(failure(403, 'Forbidden'))).find(things, ref), KubeError)
  })
})

describe('retries', () => {
  it('repeats after 429, not before Retry-After', async () => {
    const clock = new FakeClock()
    const transport = scripted(failure(429, 'TooManyRequests', { 'retry-after': '2' }), okResponse)
    const done = clientOn(transport, { clock }).create(things, object)
    await clock.advance(1_999)
    assert.equal(transport.requests.length, 1)
    await clock.advance(1_000)
    assert.equal((await done).metadata.name, 'a')
    assert.equal(transport.requests.length, 2)
  })

  it('holds back all other requests while the server throttles, except urgent ones', async () => {
    const clock = new FakeClock()
    const transport = scripted(failure(429, 'TooManyRequests', { 'retry-after': '2' }), okResponse)
    const client = clientOn(transport, { clock })
    const first = client.get(things, ref)
    await clock.flushPromises()
    const second = client.get(things, { ...ref, name: 'b' })
    await clock.flushPromises()
    assert.equal(transport.requests.length, 1)
    await client.get(things, { ...ref, name: 'lease' }, { urgent: true })
    assert.equal(transport.requests.length, 2)
    await clock.advance(10_000)
    await Promise.all([first, second])
  })

  it('never exceeds the attempts of a request', async () => {
    const transport = scripted(failure(429, 'TooManyRequests'))
    const error = await clientOn(transport)
      .get(things, ref, { attempts: 1 })
      .catch((e: unknown) => e)
    assert.ok(isKubeError(error, 'TooManyRequests'))
    assert.equal(transport.requests.length, 1)
  })

  it('ends at once when the signal is aborted during a wait', async () => {
    const clock = new FakeClock()
    const stop = new AbortController()
    const transport = scripted(failure(429, 'TooManyRequests', { 'retry-after': '30' }))
    const waiting = clientOn(transport, { clock }).get(things, ref, { signal: stop.signal })
    await clock.advance(1_000)
    stop.abort()
    await assert.rejects(waiting, error => isKubeError(error, 'Aborted'))
    assert.equal(clock.pendingTimers, 0)
  })

  it('uses renewed credentials once after a 401', async () => {
    let token = 'old'
    let rejections = 0
    const credentials: Credentials = {
      headers: () => ({ authorization: `Bearer ${token}` }),
      async handleUnauthorized() {
        rejections++
        token = 'new'
        return true
      },
    }
    const transport = scripted(failure(401, 'Unauthorized'), okResponse)
    await clientOn(transport, { credentials }).get(things, ref)
    assert.deepEqual(
      transport.requests.map(({ headers }) => headers.authorization),
      ['Bearer old', 'Bearer new'],
    )
    const rejecting = scripted(failure(401, 'Unauthorized'))
    await assert.rejects(clientOn(rejecting, { credentials }).get(things, ref), error =>
      isKubeError(error, 'Unauthorized'),
    )
    assert.equal(rejections, 2)
    assert.equal(rejecting.requests.length, 2)
  })
})

describe('create with generateName', () => {
  const wanted: Thing = { metadata: { generateName: 'a-', namespace: 'ns' } }

  for (const fault of ['lose request', 'lose response'] as const)
    it(`creates exactly one object when the network faults: ${fault}`, async () => {
      const clock = new FakeClock()
      let failures = 5
      const server = new SimulatedServer({
        fault: () => (failures-- > 0 ? fault : undefined),
      })
      const creating = clientOn(server, { clock, random: Math.random }).create(things, wanted)
      await clock.advance(600_000)
      const made = await creating
      assert.equal(server.objects.size, 1)
      assert.ok(made.metadata.uid)
      assert.equal(made.metadata.generateName, 'a-')
    })

  it('chooses another name if the first one exists', async () => {
    const server = new SimulatedServer()
    const numbers = [...Array(5).fill(0), ...Array(5).fill(0), ...Array(5).fill(0.99)]
    const client = clientOn(server, { random: () => numbers.shift() ?? 0.5 })
    const first = await client.create(things, wanted)
    const second = await client.create(things, wanted)
    assert.notEqual(first.metadata.name, second.metadata.name)
    assert.equal(server.objects.size, 2)
  })

  it('returns a rejection', async () => {
    const client = clientOn(scripted(failure(403, 'Forbidden')))
    await assert.rejects(client.create(things, wanted), error => isKubeError(error, 'Forbidden'))
  })

  it('gives up after a server error once it knows that the object does not exist', async () => {
    const transport = scripted(failure(500, 'InternalError'), failure(404, 'NotFound'))
    await assert.rejects(clientOn(transport).create(things, wanted), error => isKubeError(error, 'Internal'))
  })
})

describe('lists', () => {
  it('reads page by page and sets the kind of every item', async () => {
    const server = new SimulatedServer()
    const client = clientOn(server)
    for (let i = 0; i < 7; i++) server.write('POST', root, { metadata: { name: `t${i}`, namespace: 'ns' } })
    const list = await client.list(things, { namespace: 'ns', limit: 3 })
    assert.equal(list.items.length, 7)
    assert.equal(server.requests.length, 3)
    assert.ok(list.items.every(({ kind, apiVersion }) => kind === 'Thing' && apiVersion === 'example.com/v1'))
  })

  it('starts over with a single response when the server drops the snapshot between two pages', async () => {
    const server = new SimulatedServer({
      fault: ({ path }) => (path.includes('continue') ? failure(410, 'Expired') : undefined),
    })
    for (let i = 0; i < 7; i++) server.write('POST', root, { metadata: { name: `t${i}`, namespace: 'ns' } })
    assert.equal((await clientOn(server).list(things, { namespace: 'ns', limit: 3 })).items.length, 7)
  })
})

describe('reports of the client', () => {
  it('contain verb, resource, code and time of every request', async () => {
    const clock = new FakeClock()
    const reports: RequestReport[] = []
    const onRequest = (report: RequestReport) => void reports.push(report)
    const transport = scripted(failure(429, 'TooManyRequests'), okResponse)
    const done = clientOn(transport, { clock, onRequest }).patch(
      things,
      ref,
      { merge: {} },
      { subresource: 'status' },
    )
    await clock.advance(1_000)
    await done
    assert.deepEqual(
      reports.map(({ verb, resource, status, code }) => ({ verb, resource, status, code })),
      [
        { verb: 'patch', resource: 'things.example.com/status', status: 429, code: 'TooManyRequests' },
        { verb: 'patch', resource: 'things.example.com/status', status: 200, code: 'OK' },
      ],
    )
  })

  it('contain the warnings of the server', async () => {
    const warnings: string[] = []
    const warning = '299 - "unknown field \\"spec.x\\"", 299 - "deprecated, do not use"'
    const transport = scripted({ ...okResponse, headers: { warning: [warning, '199 - "ignored"'] } })
    await clientOn(transport, { onWarning: text => void warnings.push(text) }).get(things, ref)
    assert.deepEqual(warnings, ['unknown field "spec.x"', 'deprecated, do not use'])
  })
})
