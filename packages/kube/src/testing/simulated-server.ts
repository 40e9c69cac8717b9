// SPDX-License-Identifier: Apache-2.0

// A minimal API server for tests: one history of numbered changes, the verbs of the client, and watches that a test
// can delay, cut or expire. It validates nothing and knows no kinds.

import type { ObjectMeta, Stored } from '../client/object.ts'
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '../client/transport.ts'
import { belongs, type CutKind, SimulatedWatch } from './simulated-watch.ts'

type Json = Stored & Record<string, unknown>

export interface HistoryEntry {
  readonly path: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Json
}

/** The fault of a request: another response, loss before or after it was carried out, or none. */
export type Fault = TransportResponse | 'lose request' | 'lose response' | undefined

export interface SimulatedServerOptions {
  /** Called for each request that is not a watch. */
  readonly fault?: (request: TransportRequest) => Fault
  /** Called for each watch: another response, or none. */
  readonly watchFault?: (request: TransportRequest) => Fault
  /** Delays requests, responses and watch events. */
  readonly delay?: (what: 'request' | 'response' | 'event') => Promise<void>
  /** False: streaming lists are rejected, as by servers without them. */
  readonly streamingList?: boolean
}

interface Address {
  readonly collection: string
  readonly name: string | undefined
  readonly query: URLSearchParams
}

/** Shared by all servers, so that UIDs are unique. */
let uidsGiven = 0

export class SimulatedServer implements Transport {
  readonly objects = new Map<string, Json>()
  readonly history: HistoryEntry[] = []
  readonly requests: TransportRequest[] = []
  readonly #options: SimulatedServerOptions
  readonly #watches = new Set<SimulatedWatch>()
  #resourceVersion = 100
  #compacted = 0

  constructor(options: SimulatedServerOptions = {}) {
    this.#options = options
  }

  get resourceVersion(): string {
    return String(this.#resourceVersion)
  }

  get watches(): number {
    return this.#watches.size
  }

  /** Drops the history: the server responds to older watches with 410. */
  compact(): void {
    this.#compacted = this.#resourceVersion
  }

  /** Ends every watch: cleanly, or like a broken connection, possibly in the middle of an event. */
  cutWatches(how: CutKind = 'break'): void {
    for (const watch of this.#watches) watch.cut(how)
  }

  bookmark(): void {
    const object = { metadata: { resourceVersion: this.resourceVersion } }
    for (const watch of this.#watches) watch.push({ type: 'BOOKMARK', object })
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request)
    await this.#options.delay?.('request')
    const fault = this.#options.fault?.(request)
    if (fault === 'lose request') throw new TransportError('network', true, 'lost')
    if (typeof fault === 'object') return fault
    const response = this.#carryOut(request)
    await this.#options.delay?.('response')
    if (fault === 'lose response') throw new TransportError('network', true, 'lost')
    if (request.signal?.aborted) throw new TransportError('aborted', true, 'aborted')
    return response
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    this.requests.push(request)
    const fault = this.#options.watchFault?.(request)
    if (typeof fault === 'string') throw new TransportError('network', true, 'lost')
    if (fault) return streamOf(fault)
    const { collection, query } = addressOf(request)
    const initial = query.get('sendInitialEvents') === 'true'
    if (initial && this.#options.streamingList === false) return streamOf(failure(422, 'Invalid'))
    const from = Number(query.get('resourceVersion') ?? 0)
    if (!initial && from < this.#compacted) return streamOf(failure(410, 'Expired'))
    const watch = new SimulatedWatch(collection, request.signal, this.#options.delay, () => {
      this.#watches.delete(watch)
    })
    this.#watches.add(watch)
    if (initial) {
      for (const object of this.#under(collection)) watch.push({ type: 'ADDED', object })
      const annotations = { 'k8s.io/initial-events-end': 'true' }
      watch.push({
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: this.resourceVersion, annotations } },
      })
    } else
      for (const entry of this.history)
        if (Number(entry.object.metadata.resourceVersion) > from)
          watch.offer(entry.path, { type: entry.type, object: entry.object })
    return { status: 200, headers: {}, body: watch.read() }
  }

  async close(): Promise<void> {
    this.cutWatches('end')
  }

  /** A write of another client. */
  write(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): TransportResponse {
    return this.#carryOut({ method, path, headers: {}, body: JSON.stringify(body), timeoutMs: 0 })
  }

  #carryOut(request: TransportRequest): TransportResponse {
    const address = addressOf(request)
    const body = request.body === undefined ? undefined : (JSON.parse(request.body) as Json)
    switch (request.method) {
      case 'GET':
        return address.name === undefined ? this.#list(address) : this.#get(address)
      case 'POST':
        return this.#create(address, body!)
      case 'PUT':
      case 'PATCH':
        return this.#change(address, body!)
      case 'DELETE':
        return address.name === undefined ? this.#deleteAll(address) : this.#delete(address, body)
    }
  }

  #under(collection: string): Json[] {
    return [...this.objects].filter(([path]) => belongs(path, collection)).map(([, object]) => object)
  }

  #list({ collection, query }: Address): TransportResponse {
    const limit = Number(query.get('limit') ?? 0)
    const [at = this.resourceVersion, start = '0'] = query.get('continue')?.split(':') ?? []
    if (Number(at) < this.#compacted) return failure(410, 'Expired')
    const all = this.#under(collection)
    const end = limit ? Number(start) + limit : all.length
    const next = end < all.length ? `${at}:${end}` : undefined
    return ok({ metadata: { resourceVersion: at, continue: next }, items: all.slice(Number(start), end) })
  }

  #get({ collection, name }: Address): TransportResponse {
    const object = this.objects.get(`${collection}/${name}`)
    return object ? ok(object) : failure(404, 'NotFound')
  }

  #create({ collection }: Address, body: Json): TransportResponse {
    const path = `${collection}/${body.metadata.name}`
    if (this.objects.has(path)) return failure(409, 'AlreadyExists')
    const uid = `uid-${++uidsGiven}`
    return ok(this.#store(path, 'ADDED', { ...body, metadata: { ...body.metadata, uid } }), 201)
  }

  #change({ collection, name }: Address, body: Json): TransportResponse {
    const path = `${collection}/${name}`
    const old = this.objects.get(path)
    if (!old) return failure(404, 'NotFound')
    const wanted = body.metadata?.resourceVersion
    if (wanted && wanted !== old.metadata.resourceVersion) return failure(409, 'Conflict')
    const metadata = { ...old.metadata, ...body.metadata }
    return ok(this.#store(path, 'MODIFIED', { ...old, ...body, metadata }))
  }

  #delete({ collection, name }: Address, body: Json | undefined): TransportResponse {
    const path = `${collection}/${name}`
    const old = this.objects.get(path)
    if (!old) return failure(404, 'NotFound')
    const { uid } = (body as { preconditions?: { uid?: string } } | undefined)?.preconditions ?? {}
    if (uid && uid !== old.metadata.uid) return failure(409, 'Conflict')
    this.#store(path, 'DELETED', old)
    return ok({ kind: 'Status', status: 'Success', details: { name, uid: old.metadata.uid } })
  }

  #deleteAll({ collection }: Address): TransportResponse {
    const items = this.#under(collection)
    for (const object of items) this.#store(`${collection}/${object.metadata.name}`, 'DELETED', object)
    return ok({ metadata: { resourceVersion: this.resourceVersion }, items })
  }

  #store(path: string, type: HistoryEntry['type'], object: Json): Json {
    const metadata: ObjectMeta = { ...object.metadata, resourceVersion: String(++this.#resourceVersion) }
    const stored = { ...object, metadata } as Json
    if (type === 'DELETED') this.objects.delete(path)
    else this.objects.set(path, stored)
    const entry = { path, type, object: stored }
    this.history.push(entry)
    for (const watch of this.#watches) watch.offer(entry.path, { type: entry.type, object: entry.object })
    return stored
  }
}

function addressOf(request: TransportRequest): Address {
  const url = new URL(request.path, 'http://simulated')
  const match =
    /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+)?(\/[^/]+)(?:\/([^/]+))?(?:\/status)?$/.exec(
      url.pathname,
    )
  if (!match) throw new Error(`the simulated server does not know ${request.path}`)
  const [, api = '', namespace = '', resource = '', name] = match
  return { collection: `${api}${namespace}${resource}`, name, query: url.searchParams }
}

function ok(body: object, status = 200): TransportResponse {
  return { status, headers: {}, body: JSON.stringify(body) }
}

export function failure(code: number, reason: string, headers = {}, more: object = {}): TransportResponse {
  const status = { kind: 'Status', status: 'Failure', code, reason, message: `simulated ${reason}`, ...more }
  return { status: code, headers, body: JSON.stringify(status) }
}

async function streamOf(response: TransportResponse): Promise<TransportStream> {
  return {
    ...response,
    body: (async function* () {
      yield Buffer.from(response.body)
    })(),
  }
}

/** A server that returns these responses one after the other, and the last one for ever. */
export function scripted(
  ...responses: (TransportResponse | Error)[]
): Transport & { requests: TransportRequest[] } {
  const requests: TransportRequest[] = []
  return {
    requests,
    async request(request) {
      requests.push(request)
      const response = responses.length > 1 ? responses.shift()! : responses[0]!
      if (response instanceof Error) throw response
      return response
    },
    async stream() {
      throw new Error('not scripted')
    },
    async close() {},
  }
}
