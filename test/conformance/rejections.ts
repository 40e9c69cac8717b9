// SPDX-License-Identifier: Apache-2.0

// What must not be said of a kind, as tables: one case for a kind, so that a difference shows every row that differs.
import assert from 'node:assert/strict'
import type { Case, Fixture } from './suite.ts'

/** What is wrong → what is said beside, or instead of, what is right; and the words of the rejection. */
export type Rejections = Readonly<Record<string, readonly [change: object, message: string]>>

export interface RejectedKind {
  /** `apps/v1/deployments`, `v1/pods` */
  readonly resource: string
  readonly isClusterWide?: boolean
  /** The object with the change in it. */
  object(change: object, namespace: string): object
}

/** Nothing is stored: every object is only tried. */
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
