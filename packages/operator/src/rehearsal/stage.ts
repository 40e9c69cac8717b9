// SPDX-License-Identifier: Apache-2.0

import { applyMergePatch } from '@grove/apimachinery'
import type { KubeObject, Stored, Transport, TransportRequest, TransportResponse } from '@grove/kube'
import { TransportError } from '@grove/kube'
import { OpenWatch } from './open-watch.ts'

interface Address {
  /** Of all namespaces: `/api/v1/pods`. */
  readonly kind: string
  readonly key: string | undefined
}

/**
 * Stands in for an API server while the operator rehearses: keeps what it is given, tells its watches, and lets every
 * pod become ready that has lost its gates. It is reached by calls and by nothing else, knows no rules and refuses
 * nothing but what is not there.
 */
export class Stage implements Transport {
  readonly #objects = new Map<string, Stored<KubeObject>>()
  readonly #watches = new Map<string, Set<OpenWatch>>()
  readonly #onReady: (pod: Stored<KubeObject>) => void
  #version = 0

  constructor(onReady: (pod: Stored<KubeObject>) => void) {
    this.#onReady = onReady
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    // As over a socket: an answer never comes at once.
    await null
    if (request.signal?.aborted) throw new TransportError('aborted', false, 'aborted')
    const { kind, key } = addressOf(request.path)
    const body = request.body ? JSON.parse(request.body) : {}
    if (request.method === 'POST') return answer(201, this.#create(kind, body))
    if (!key) return answer(200, { metadata: { resourceVersion: String(this.#version) }, items: [] })
    const stored = this.#objects.get(key)
    if (!stored) return answer(404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 })
    if (request.method === 'GET') return answer(200, stored)
    if (request.method === 'DELETE') return answer(200, this.#report(kind, key, 'DELETED', stored))
    const patched = applyMergePatch(stored, withoutDirectives(body)) as Stored<KubeObject>
    return answer(200, this.#report(kind, key, 'MODIFIED', patched))
  }

  async stream({ path, signal }: TransportRequest) {
    const { kind } = addressOf(path)
    const open = this.#watches.get(kind) ?? new Set<OpenWatch>()
    this.#watches.set(kind, open)
    const watch = new OpenWatch(signal, () => open.delete(watch))
    open.add(watch)
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const metadata = { resourceVersion: String(this.#version), annotations }
    watch.push({ type: 'BOOKMARK', object: { metadata } })
    return { status: 200, headers: {}, body: watch.read() }
  }

  async close(): Promise<void> {}

  #create(kind: string, body: KubeObject): Stored<KubeObject> {
    const { name, namespace } = body.metadata ?? {}
    const metadata = {
      ...body.metadata,
      uid: `rehearsal-${this.#version}`,
      creationTimestamp: new Date().toISOString(),
      generation: 1,
    }
    return this.#report(kind, `${kind} ${namespace}/${name}`, 'ADDED', {
      ...body,
      metadata,
    } as Stored<KubeObject>)
  }

  #report(kind: string, key: string, type: string, object: Stored<KubeObject>): Stored<KubeObject> {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) }
    const stored = asSeenByNodes(kind, { ...object, metadata } as Stored<KubeObject>)
    if (type === 'DELETED') this.#objects.delete(key)
    else this.#objects.set(key, stored)
    for (const watch of this.#watches.get(kind) ?? []) watch.push({ type, object: stored })
    if (kind === podKind && 'status' in stored) this.#onReady(stored)
    return stored
  }
}

const podKind = '/api/v1/pods'

/** A pod without gates is ready. */
function asSeenByNodes(kind: string, object: Stored<KubeObject>): Stored<KubeObject> {
  const { spec } = object as { spec?: { schedulingGates?: unknown[] } }
  if (kind !== podKind || spec?.schedulingGates?.length) return object
  const conditions = ['PodScheduled', 'Ready'].map(type => ({ type, status: 'True' }))
  const status = { phase: 'Running', conditions }
  return { ...object, spec: { ...spec, nodeName: 'rehearsal' }, status } as unknown as Stored<KubeObject>
}

/** Of strategic patches we write one kind only: gates that are to go. */
function withoutDirectives(patch: { spec?: { schedulingGates?: unknown } }): unknown {
  return patch.spec?.schedulingGates ? { ...patch, spec: { ...patch.spec, schedulingGates: [] } } : patch
}

function addressOf(path: string): Address {
  const [pathname = ''] = path.split('?')
  const found = /^(\/apis?\/(?:[^/]+\/)?v[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?/.exec(
    pathname,
  )
  const [, api = '', namespace, resource = '', name] = found ?? []
  const kind = `${api}/${resource}`
  return { kind, key: name && `${kind} ${namespace}/${decodeURIComponent(name)}` }
}

function answer(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) }
}
