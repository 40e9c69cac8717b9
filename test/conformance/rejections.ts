// SPDX-License-Identifier: Apache-2.0

// Tables of invalid objects: one case per kind, so that a failure shows all rows that differ.
import assert from 'node:assert/strict'
import type { Case, Fixture } from './suite.ts'

/** By the kind of error: the fields that replace those of a valid object, and the message of the rejection. */
export type Rejections = Readonly<Record<string, readonly [change: object, message: string]>>

export interface RejectedKind {
  /** `apps/v1/deployments`, `v1/pods` */
  readonly resource: string
  readonly isClusterWide?: boolean
  /** Returns a valid object with the change. */
  object(change: object, namespace: string): object
}

/** Sends every object as a dry run, so that nothing is stored. */
export function rejected(
  { resource, isClusterWide, object }: RejectedKind,
  rejections: Rejections,
): Case['run'] {
  return async fixture => {
    const path = pathOf(fixture, resource, isClusterWide ?? false)
    const seen: Record<string, unknown> = {}
    const wanted: Record<string, unknown> = {}
    for (const [what, [change, message]] of Object.entries(rejections)) {
      const response = await fixture.http.post(path, object(change, fixture.namespace), {
        query: { dryRun: 'All' },
      })
      seen[what] = response.status < 400 ? 'accepted' : response.text('message').replace(subject, '')
      wanted[what] = message
    }
    assert.deepEqual(seen, wanted)
  }
}

const subject = /^\S+ "[^"]*" is invalid: /

function pathOf(fixture: Fixture, resource: string, isClusterWide: boolean): string {
  const slash = resource.lastIndexOf('/')
  const [groupVersion, plural] = [resource.slice(0, slash), resource.slice(slash + 1)]
  if (isClusterWide) return groupVersion === 'v1' ? `/api/${resource}` : `/apis/${resource}`
  return groupVersion === 'v1' ? fixture.core(plural) : fixture.group(groupVersion, plural)
}
