// SPDX-License-Identifier: Apache-2.0

// Compares a real API server with this package: every write is sent to the server and is computed here from the
// same live object. A difference is a bug of this package.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:https'
import type { JsonObject } from '../../json-value.ts'
import { sortKeys } from '../../json-value.ts'
import {
  type ApplyOutcome,
  applyConfiguration,
  type ManagedFieldsEntry,
  type OwnedKind,
  trackUpdate,
} from '../index.ts'

export interface Response {
  readonly code: number
  readonly body: JsonObject & { metadata: JsonObject & { managedFields?: ManagedFieldsEntry[] } }
}

export interface ServedKind {
  /** The collection, such as `/api/v1/namespaces/default/pods`. */
  readonly path: string
  readonly main: OwnedKind
  readonly status?: OwnedKind
  /** Custom kinds are stored as plain JSON with sorted managedFields keys. */
  readonly custom: boolean
  /** Applies the fields that the server sets after it has computed the owners. */
  readonly filledLater?: (object: JsonObject) => JsonObject
}

export const contentTypes = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** The part of a real control plane that these tests need. */
export interface ControlPlane {
  readonly server: string
  readonly ca: string
  readonly admin: { readonly cert: string; readonly key: string }
}

export class RealServer implements Disposable {
  readonly #controlPlane: ControlPlane
  readonly #agent: Agent
  compared = 0
  conflicts = 0

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane
    const { ca, admin } = controlPlane
    this.#agent = new Agent({ keepAlive: true, ca, ...admin })
  }

  send(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const outgoing = request(new URL(path, this.#controlPlane.server), {
      method,
      agent: this.#agent,
      headers: body === undefined ? {} : { 'content-type': type },
    })
    outgoing.on('response', incoming => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', chunk => {
        text += chunk
      })
      incoming.on('end', () => resolve({ code: incoming.statusCode ?? 0, body: JSON.parse(text) }))
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

/** One object on the server. Every write to it is compared with the local result. */
export class Replay {
  readonly server: RealServer
  readonly kind: ServedKind
  readonly name: string
  live: Response['body'] | undefined

  constructor(server: RealServer, kind: ServedKind, name: string) {
    this.server = server
    this.kind = kind
    this.name = name
  }

  get path(): string {
    return `${this.kind.path}/${this.name}`
  }

  async create(object: JsonObject, manager: string): Promise<void> {
    const response = await this.server.send(
      'POST',
      `${this.kind.path}?fieldManager=${manager}`,
      this.named(object),
    )
    this.check(response, manager, this.kind.main, 'create')
  }

  /** Replaces the live object with a changed one, as a controller does. */
  async replace(change: (object: JsonObject) => void, manager: string, subresource = ''): Promise<Response> {
    const draft = structuredClone(this.live!)
    change(draft)
    const response = await this.server.send(
      'PUT',
      `${this.path}${slash(subresource)}?fieldManager=${manager}`,
      draft,
    )
    const sent = Object.hasOwn(draft.metadata, 'managedFields') ? draft.metadata.managedFields : undefined
    if (response.code < 300) this.check(response, manager, this.ownedKind(subresource), 'replace', sent)
    return response
  }

  async patch(
    body: unknown,
    manager: string,
    type: 'merge' | 'json' | 'strategic' = 'merge',
    subresource = '',
  ): Promise<Response> {
    const path = `${this.path}${slash(subresource)}?fieldManager=${manager}`
    const response = await this.server.send('PATCH', path, body, contentTypes[type])
    if (response.code < 300)
      this.check(response, manager, this.ownedKind(subresource), `patch ${JSON.stringify(body)}`)
    return response
  }

  /** Resets managedFields, as a client may. */
  async reset(manager: string): Promise<void> {
    const sent = [{}]
    const path = `${this.path}?fieldManager=${manager}`
    const response = await this.server.send(
      'PATCH',
      path,
      { metadata: { managedFields: sent } },
      contentTypes.merge,
    )
    this.check(response, manager, this.kind.main, 'reset', sent)
  }

  async apply(
    configuration: JsonObject,
    manager: string,
    force = false,
    subresource = '',
  ): Promise<Response> {
    const kind = this.ownedKind(subresource)
    const body = this.named({ apiVersion: kind.apiVersion, kind: kind.kind, ...configuration })
    const path = `${this.path}${slash(subresource)}?fieldManager=${manager}&force=${force}`
    const response = await this.server.send('PATCH', path, body, contentTypes.apply)
    const owner = { manager, operation: 'Apply' as const, subresource: kind.subresource }
    const ours = applyConfiguration({
      kind,
      live: this.live,
      configuration: body,
      manager,
      force,
      time: timeOf(response, owner) ?? new Date().toISOString(),
    })
    await this.checkApply(
      response,
      ours,
      `apply by ${manager}${force ? ' with force' : ''} of ${JSON.stringify(body)}`,
    )
    return response
  }

  ownedKind(subresource: string): OwnedKind {
    return subresource === '' ? this.kind.main : this.kind.status!
  }

  named(object: JsonObject): JsonObject {
    return { ...object, metadata: { ...(object.metadata as JsonObject), name: this.name } }
  }

  check(response: Response, manager: string, kind: OwnedKind, what: string, sent?: unknown): void {
    assert.ok(response.code < 300, `${what}: ${JSON.stringify(response.body)}`)
    const object = !this.live && this.kind.filledLater ? this.kind.filledLater(response.body) : response.body
    const ours = trackUpdate({
      kind,
      live: this.live,
      object: { ...object, metadata: { ...(object.metadata as JsonObject), managedFields: sent } },
      manager,
      time:
        timeOf(response, { manager, operation: 'Update', subresource: kind.subresource }) ??
        new Date().toISOString(),
    })
    this.compareOwners(ours, response, what)
    this.live = response.body
  }

  async checkApply(response: Response, ours: ApplyOutcome, what: string): Promise<void> {
    const { code, body } = response
    if (code < 300) {
      const hint = ours.outcome === 'applied' ? '' : ours.message
      assert.equal(ours.outcome, 'applied', `the server accepts, this package does not: ${hint}\n${what}`)
      const { object } = ours as { object: JsonObject }
      this.compareOwners((object.metadata as JsonObject).managedFields, response, what)
      this.live = body
      await this.compareObject(object, what)
      return
    }
    if (code === 409) {
      this.server.conflicts++
      assert.equal(ours.outcome, 'conflict', what)
      const { message, causes } = ours as Extract<ApplyOutcome, { outcome: 'conflict' }>
      assert.equal(message, body.message, what)
      // The server lists them in the random order of a Go map.
      const byText = (list: unknown) =>
        (list as JsonObject[]).map(cause => JSON.stringify(sortKeys(cause))).sort()
      assert.deepEqual(byText(causes), byText((body.details as JsonObject).causes), what)
    } else if (ours.outcome === 'applied') {
      await this.checkRejected(String(body.message), ours.object, what)
    } else {
      assert.equal(ours.message, body.message, what)
      assert.equal(ours.outcome === 'bad request' ? 400 : 500, code)
    }
    this.server.compared++
  }

  /** Validation of the merged object failed on the server. The local result must fail the same way. */
  async checkRejected(message: string, object: JsonObject, what: string): Promise<void> {
    // A list that lost its last item is null. A PUT would drop this null before validation.
    const nulls = [...message.matchAll(/(\w[\w.[\]]*): Invalid value: "null"/g)].map(match => match[1]!)
    for (const path of nulls) {
      const value = path
        .split(/[.[\]]+/)
        .reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], object)
      assert.equal(value, null, `${path} is null on the server: ${what}`)
    }
    if (nulls.length > 0 || !this.live) return
    const replaced = await this.server.send('PUT', `${this.path}?dryRun=All`, this.asUpdate(object))
    assert.ok(replaced.code >= 400, `the server rejects, this package does not: ${message}\n${what}`)
  }

  compareOwners(ours: unknown, response: Response, what: string): void {
    const theirs = response.body.metadata.managedFields
    const before = JSON.stringify(this.live, null, 1)
    assert.deepEqual(ours, theirs, `owners after: ${what}\nlive before: ${before}`)
    const [mine, real] = this.kind.custom ? [sortKeys(ours), sortKeys(theirs)] : [ours, theirs]
    assert.equal(
      JSON.stringify(fieldsOf(mine)),
      JSON.stringify(fieldsOf(real)),
      `order of the fields after: ${what}`,
    )
    this.server.compared++
  }

  /** Stores the local result on the server, so that it gets the same defaults, and compares. */
  async compareObject(object: JsonObject, what: string): Promise<void> {
    const { code, body } = await this.server.send('PUT', `${this.path}?dryRun=All`, this.asUpdate(object))
    assert.ok(code < 300, `the server rejects the local result: ${JSON.stringify(body)}\n${what}`)
    assert.deepEqual(content(body), content(this.live!), what)
  }

  asUpdate(object: JsonObject): JsonObject {
    const { managedFields: _, uid: __, ...metadata } = object.metadata as JsonObject
    return { ...object, metadata: { ...metadata, resourceVersion: this.live?.metadata.resourceVersion } }
  }
}

function slash(subresource: string): string {
  return subresource === '' ? '' : `/${subresource}`
}

/** Returns the time of this manager on the server, so that the local entries are sorted the same way. */
function timeOf(
  response: Response,
  owner: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'subresource'>,
): string | undefined {
  return response.body.metadata?.managedFields?.find(
    entry =>
      entry.manager === owner.manager &&
      entry.operation === owner.operation &&
      (entry.subresource ?? '') === owner.subresource,
  )?.time
}

function fieldsOf(entries: unknown): unknown {
  return (entries as ManagedFieldsEntry[] | undefined)?.map(entry => entry.fieldsV1)
}

function content({ metadata, ...object }: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, generation: ___, ...rest } = metadata as JsonObject
  return { ...object, metadata: rest }
}
