// SPDX-License-Identifier: Apache-2.0

// The audit log of a real API server: the requests of some users, and the permissions that these requests need.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyRule } from '@grove/api'

export interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly requestURI: string
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly subresource?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number; readonly message?: string }
}

/** The API server rejects these requests with 403 too, although the client has the permission. */
const rejectedForAnotherReason = /is being terminated|exceeded quota|no PriorityClass with name/

export class AuditLog {
  /** Flags of the API server that writes this log. */
  readonly flags: readonly string[]
  readonly #folder: string

  constructor(...users: readonly string[]) {
    this.#folder = mkdtempSync(join(tmpdir(), 'grove-audit-'))
    const policy = join(this.#folder, 'policy.yaml')
    writeFileSync(policy, JSON.stringify(auditPolicy(users)))
    this.flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${this.#path}`]
  }

  get #path(): string {
    return join(this.#folder, 'audit.log')
  }

  requestsOf(user: string): AuditEvent[] {
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as AuditEvent)
      .filter(event => event.user.username === user)
  }

  /** Returns the requests that the API server rejected for lack of permission. */
  deniedTo(user: string): string[] {
    return this.requestsOf(user)
      .filter(({ responseStatus: { code, message = '' } = {} }) => {
        return code === 403 && !rejectedForAnotherReason.test(message)
      })
      .map(({ verb, requestURI, responseStatus }) => `${verb} ${requestURI}: ${responseStatus?.message}`)
  }

  /** Returns the permissions of these rules that no request of the user needed, sorted. */
  unusedBy(user: string, rules: readonly PolicyRule[]): string[] {
    const used = new Set(this.requestsOf(user).map(rightUsedBy))
    return [...new Set(rightsOf(rules))].filter(right => !used.has(right)).sort()
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Records each request of these users once, when the API server has sent the response. */
function auditPolicy(users: readonly string[]): object {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', users }],
  }
}

/** Formats a permission as `verb resource.group/subresource`. */
function rightUsedBy({ verb, objectRef }: AuditEvent): string | undefined {
  if (!objectRef?.resource) return undefined
  const { resource, subresource, apiGroup } = objectRef
  return right(verb, subresource ? `${resource}/${subresource}` : resource, apiGroup)
}

function rightsOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource => verbs.map(verb => right(verb, resource, group))),
    ),
  )
}

function right(verb: string, resource: string, group: string | undefined): string {
  const [name = '', subresource] = resource.split('/')
  return `${verb} ${name}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`
}
