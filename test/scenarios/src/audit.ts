// SPDX-License-Identifier: Apache-2.0

// Reads the requests of one user from an audit log, and the rights that they need.
import { readFileSync } from 'node:fs'
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
  readonly responseStatus?: { readonly code?: number }
}

/** Records each request of one user once, when the API server has sent the response. */
export const auditPolicy = (user: string) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', users: [user] }],
})

export function auditEvents(path: string, user: string): AuditEvent[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as AuditEvent)
    .filter(event => event.user.username === user)
}

/** Formats a right as `verb resource.group/subresource`. */
export function rightUsedBy({ verb, objectRef }: AuditEvent): string | undefined {
  if (!objectRef?.resource) return undefined
  const { resource, subresource, apiGroup } = objectRef
  return right(verb, subresource ? `${resource}/${subresource}` : resource, apiGroup)
}

export function rightsOf(rules: readonly PolicyRule[]): string[] {
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
