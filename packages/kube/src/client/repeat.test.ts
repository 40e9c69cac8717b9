// SPDX-License-Identifier: Apache-2.0

// Tests which requests are repeated after which failure: those that were certainly not carried out, and those whose
// repetition has the same effect.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { failure, scripted } from '../testing/simulated-server.ts'
import { things } from '../testing/things.ts'
import type { Client } from './client.ts'
import { createClientOn } from './create-client.ts'
import { isKubeError, type KubeErrorCode } from './error.ts'
import { TransportError, type TransportResponse } from './transport.ts'

const object = { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' }, items: [] }
const ok: TransportResponse = { status: 200, headers: {}, body: JSON.stringify(object) }
const ref = { namespace: 'ns', name: 'a' }

type Send = (client: Client) => Promise<unknown>

const safe: Record<string, Send> = {
  get: client => client.get(things, ref),
  list: client => client.list(things),
  update: client => client.update(things, object),
  'merge patch': client => client.patch(things, ref, { merge: {} }),
  'strategic merge patch': client => client.patch(things, ref, { strategic: {} }),
  apply: client => client.apply(things, object, { fieldManager: 'test' }),
  'delete of a UID': client => client.delete(things, ref, { preconditions: { uid: 'u' } }),
}
const unsafe: Record<string, Send> = {
  create: client => client.create(things, object),
  'JSON patch': client => client.patch(things, ref, { json: [] }),
  delete: client => client.delete(things, ref),
}
/** A repetition could hit objects that were created meanwhile. */
const onlyOnce: Record<string, Send> = {
  'delete of a collection': client => client.deleteCollection(things, { namespace: 'ns' }),
}

type Failure = readonly [what: string, TransportResponse | Error, KubeErrorCode]

const network = (message: string, sent: boolean) => new TransportError('network', sent, message)
const neverCarriedOut: readonly Failure[] = [
  ['connection refused', network('connect ECONNREFUSED', false), 'Network'],
  ['a 429', failure(429, 'TooManyRequests', { 'retry-after': '1' }), 'TooManyRequests'],
  [
    'a 503 that names a time',
    failure(503, 'ServiceUnavailable', { 'retry-after': '1' }),
    'ServiceUnavailable',
  ],
]
const perhapsCarriedOut: readonly Failure[] = [
  ['a connection that was reset', network('read ECONNRESET', true), 'Network'],
  ['a truncated response', network('other side closed', true), 'Network'],
  ['silence', new TransportError('timeout', true, 'the server did not respond in time'), 'Timeout'],
  ['a 503', failure(503, 'ServiceUnavailable'), 'ServiceUnavailable'],
  ['a 504', failure(504, 'Timeout'), 'Timeout'],
]
const responded: readonly Failure[] = [
  ['a 409', failure(409, 'Conflict'), 'Conflict'],
  ['a 500', failure(500, 'InternalError'), 'Internal'],
  ['an abort', new TransportError('aborted', true, 'aborted'), 'Aborted'],
]

/** Sends once, with the failure as the first response. Returns the number of attempts and the result. */
async function outcomeOf(send: Send, first: TransportResponse | Error) {
  const clock = new FakeClock()
  const transport = scripted(first, ok)
  const sent = send(createClientOn(transport, { clock, random: () => 0.5 })).then(
    () => undefined,
    (error: unknown) => error,
  )
  await clock.advance(10_000)
  return { error: await sent, requests: transport.requests.length }
}

function isRepeated(verbs: Record<string, Send>, failures: readonly Failure[]): void {
  for (const [verb, send] of Object.entries(verbs))
    for (const [what, first] of failures)
      it(`${verb} is repeated after ${what}`, async () => {
        assert.deepEqual(await outcomeOf(send, first), { error: undefined, requests: 2 })
      })
}

function isNotRepeated(verbs: Record<string, Send>, failures: readonly Failure[]): void {
  for (const [verb, send] of Object.entries(verbs))
    for (const [what, first, code] of failures)
      it(`${verb} is not repeated after ${what}`, async () => {
        const { error, requests } = await outcomeOf(send, first)
        assert.ok(isKubeError(error, code), String(error))
        assert.equal(requests, 1)
      })
}

describe('an idempotent request', () => {
  isRepeated(safe, [...neverCarriedOut, ...perhapsCarriedOut])
  isNotRepeated(safe, responded)
})

describe('a request that is not idempotent', () => {
  isRepeated(unsafe, neverCarriedOut)
  isNotRepeated(unsafe, [...perhapsCarriedOut, ...responded])
})

describe('a request whose target may change', () => {
  isNotRepeated(onlyOnce, [...neverCarriedOut, ...perhapsCarriedOut, ...responded])
})
