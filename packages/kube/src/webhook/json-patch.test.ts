// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { JsonPatchOperation } from '../client/options.ts'
import { diff } from './json-patch.ts'

/** RFC 6902, limited to the operations of `diff`. */
function apply(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root = { '': structuredClone(document) } as Record<string, unknown>
  for (const { op, path, value } of operations) {
    const keys = path.split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()!
    let target = root as Record<string, unknown> | unknown[]
    for (const key of keys) target = (target as Record<string, unknown>)[key] as Record<string, unknown>
    if (Array.isArray(target)) {
      if (op === 'remove') target.splice(Number(last), 1)
      else if (op === 'add') target.splice(Number(last), 0, structuredClone(value))
      else target[Number(last)] = structuredClone(value)
    } else if (op === 'remove') delete target[last]
    else target[last] = structuredClone(value)
  }
  return root['']
}

describe('diff', () => {
  it('returns a patch between any two documents', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (raw, rawTo) => {
        // Minus zero is not JSON.
        const [from, to] = [raw, rawTo].map(value => JSON.parse(JSON.stringify(value))) as [unknown, unknown]
        assert.deepEqual(apply(from, diff(from, to)), to)
        assert.deepEqual(diff(from, structuredClone(from)), [])
      }),
      { numRuns: 500 },
    )
  })

  it('contains only the differences, with escaped keys', () => {
    assert.deepEqual(
      diff(
        { metadata: { annotations: { 'a/b~c': '1' } }, list: [1, 2, 3], gone: true, same: { x: 1 } },
        {
          metadata: { annotations: { 'a/b~c': '2' } },
          list: [1, 4],
          new: null,
          same: { x: 1 },
          not: undefined,
        },
      ),
      [
        { op: 'replace', path: '/metadata/annotations/a~1b~0c', value: '2' },
        { op: 'replace', path: '/list/1', value: 4 },
        { op: 'remove', path: '/list/2' },
        { op: 'add', path: '/new', value: null },
        { op: 'remove', path: '/gone' },
      ],
    )
  })
})
