// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CacheHarness, path, pod } from '../testing/cache-harness.ts'

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
        const harness = await new CacheHarness({ streamingList }).start()
        for (const [what, number] of steps) {
          const name = `p${number}`
          if (what === 'post') harness.server.write('POST', path, pod(name))
          else if (what === 'patch') harness.server.write('PATCH', `${path}/${name}`, { spec: {} })
          else if (what === 'delete') harness.server.write('DELETE', `${path}/${name}`)
          else if (what === 'compact') harness.server.compact()
          else if (what === 'bookmark') harness.server.bookmark()
          else if (what === 'wait') await harness.clock.advance(number * 50)
          else harness.server.cutWatches(what)
        }
        await harness.clock.advance(120_000)
        const shown = new Map(
          harness.cache.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
        )
        const truth = [...harness.server.objects.values()].map(({ metadata }) => [
          metadata.name,
          metadata.resourceVersion,
        ])
        assert.deepEqual(shown, new Map(truth as [string, string][]))
        const seen = harness.changes.map(
          ({ new: now }) => now && `${now.metadata.uid} ${now.metadata.resourceVersion}`,
        )
        const states = seen.filter(state => state !== undefined)
        assert.equal(new Set(states).size, states.length, 'a state was reported twice')
        await harness.stop()
      }),
      { numRuns: 200 },
    )
  })
})
