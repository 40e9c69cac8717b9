// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

async function five({ http, core }: Fixture): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await http.post(
      core('configmaps'),
      configMap(name, {}, { labels: { odd: String('ace'.includes(name)) } }),
    )
}

export const paging = chapter('paging and versions of lists', {
  'a limited list has a continue token and remainingItemCount': async fixture => {
    await five(fixture)
    const page = await fixture.http.get(fixture.core('configmaps'), { query: { limit: '2' } })
    assert.deepEqual(page.names, ['a', 'b'])
    assert.equal(page.at('metadata.remainingItemCount'), 3)
    assert.equal(typeof page.at('metadata.continue'), 'string')
  },
  'all pages together are the complete list': async fixture => {
    await five(fixture)
    const names: unknown[] = []
    let next = ''
    do {
      const page = await fixture.http.get(fixture.core('configmaps'), {
        query: { limit: '2', ...(next && { continue: next }) },
      })
      names.push(...page.names)
      next = (page.at('metadata.continue') as string | undefined) ?? ''
    } while (next)
    assert.deepEqual(names, ['a', 'b', 'c', 'd', 'e'])
  },
  'the last page has neither continue nor remainingItemCount': async fixture => {
    await five(fixture)
    const page = await fixture.http.get(fixture.core('configmaps'), { query: { limit: '5' } })
    assert.deepEqual(Object.keys(page.at('metadata') as object), ['resourceVersion'])
  },
  'all pages show the version of the first': async fixture => {
    await five(fixture)
    const { http, core } = fixture
    const first = await http.get(core('configmaps'), { query: { limit: '2' } })
    await http.delete(core('configmaps/d'))
    await http.post(core('configmaps'), configMap('c1'))
    await http.mergePatch(core('configmaps/e'), { data: { late: 'yes' } })
    const second = await http.get(core('configmaps'), {
      query: { limit: '9', continue: first.text('metadata.continue') },
    })
    assert.deepEqual(second.names, ['c', 'd', 'e'])
    assert.equal(second.at('items.2.data'), undefined)
    assert.equal(second.at('metadata.resourceVersion'), first.at('metadata.resourceVersion'))
  },
  'remainingItemCount of a selection is omitted': async fixture => {
    await five(fixture)
    const page = await fixture.http.get(fixture.core('configmaps'), {
      query: { limit: '2', labelSelector: 'odd=true' },
    })
    assert.deepEqual(page.names, ['a', 'c'])
    assert.equal(page.at('metadata.remainingItemCount'), undefined)
    const rest = await fixture.http.get(fixture.core('configmaps'), {
      query: { limit: '2', labelSelector: 'odd=true', continue: page.text('metadata.continue') },
    })
    assert.deepEqual(rest.names, ['e'])
  },
  'rejects an invalid continue token': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { limit: '2', continue: 'bogus' } })
    assert.equal(rejected.status, 400)
    assert.match(rejected.text('message'), /^invalid continue token: continue key is not valid/)
  },
  'rejects a limit that is not a number': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { limit: 'x' } })
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'strconv.ParseInt: parsing "x": invalid syntax')
  },
  'resourceVersionMatch Exact returns exactly this version': async fixture => {
    const { http, core } = fixture
    await five(fixture)
    const then = (await http.get(core('configmaps'))).text('metadata.resourceVersion')
    await http.delete(core('configmaps/a'))
    const list = await http.get(core('configmaps'), {
      query: { resourceVersion: then, resourceVersionMatch: 'Exact' },
    })
    assert.deepEqual(list.names, ['a', 'b', 'c', 'd', 'e'])
    assert.equal(list.at('metadata.resourceVersion'), then)
  },
  'resourceVersionMatch NotOlderThan may return a newer version': async fixture => {
    const { http, core } = fixture
    await five(fixture)
    const then = (await http.get(core('configmaps'))).text('metadata.resourceVersion')
    const list = await http.get(core('configmaps'), {
      query: { resourceVersion: then, resourceVersionMatch: 'NotOlderThan' },
    })
    assert.deepEqual(list.names, ['a', 'b', 'c', 'd', 'e'])
  },
  'resourceVersionMatch requires a resourceVersion': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { resourceVersionMatch: 'Exact' } })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /resourceVersionMatch is forbidden unless resourceVersion is provided/,
    )
  },
  'resourceVersionMatch accepts two values': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), {
      query: { resourceVersion: '1', resourceVersionMatch: 'Foo' },
    })
    assert.equal(
      rejected.at('message'),
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
    )
  },
  'resourceVersionMatch Exact rejects version 0': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), {
      query: { resourceVersion: '0', resourceVersionMatch: 'Exact' },
    })
    assert.match(
      rejected.text('message'),
      /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/,
    )
  },
  'rejects a resourceVersion that is not a number': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { resourceVersion: 'abc' } })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    )
  },
  'a list from a future version times out with a reason': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { resourceVersion: '999999999' } })
    assert.equal(rejected.status, 504)
    assert.equal(rejected.at('reason'), 'Timeout')
    assert.match(rejected.text('message'), /^Timeout: Too large resource version: 999999999, current: \d+$/)
    assert.deepEqual(rejected.at('details'), {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    })
  },
})
