// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CacheBed, path, pod } from '../testing/cache-harness.ts'

describe('WatchCache', () => {
  it('equals the server after any sequence of changes, cut watches and forgotten history', async () => {
    const step = fc.constantFrom(
      'post',
      'patch',
      'delete',
      'end',
      'break',
      'truncate',
      'compact',
      'bookmark',
      'wait',
    )
    const steps = fc.array(fc.tuple(step, fc.nat(4)), { maxLength: 60, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (steps, streamingList) => {
        const bed = await new CacheBed({ streamingList }).start()
        for (const [what, number] of steps) {
          const name = `p${number}`
          if (what === 'post') bed.server.write('POST', path, pod(name))
          else if (what === 'patch') bed.server.write('PATCH', `${path}/${name}`, { spec: {} })
          else if (what === 'delete') bed.server.write('DELETE', `${path}/${name}`)
          else if (what === 'compact') bed.server.compact()
          else if (what === 'bookmark') bed.server.bookmark()
          else if (what === 'wait') await bed.clock.advance(number * 50)
          else bed.server.cutWatches(what)
        }
        await bed.clock.advance(120_000)
        const shown = new Map(
          bed.cache.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
        )
        const truth = [...bed.server.objects.values()].map(({ metadata }) => [
          metadata.name,
          metadata.resourceVersion,
        ])
        assert.deepEqual(shown, new Map(truth as [string, string][]))
        const seen = bed.changes.map(
          ({ new: now }) => now && `${now.metadata.uid} ${now.metadata.resourceVersion}`,
        )
        const states = seen.filter(state => state !== undefined)
        assert.equal(new Set(states).size, states.length, 'a state was told twice')
        await bed.stop()
      }),
      { numRuns: 200 },
    )
  })
})
