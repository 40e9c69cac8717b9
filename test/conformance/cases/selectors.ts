// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

async function labelled({ http, core }: Fixture): Promise<void> {
  const labels: Record<string, object> = {
    a: { app: 'web', tier: 'front', n: '1' },
    b: { app: 'web', n: '5' },
    c: { app: 'db' },
    d: {},
  }
  for (const [name, set] of Object.entries(labels))
    await http.post(core('configmaps'), configMap(name, {}, { labels: set }))
}

/** Selectors and the names that they find among the four objects above. */
const found: Record<string, string[]> = {
  'app=web': ['a', 'b'],
  'app==web': ['a', 'b'],
  'app!=web': ['c', 'd'],
  'app in (web,db)': ['a', 'b', 'c'],
  'app notin (web)': ['c', 'd'],
  app: ['a', 'b', 'c'],
  '!app': ['d'],
  'app=web,tier': ['a'],
  'app=web,!tier': ['b'],
  'n>1': ['b'],
  'n<5': ['a'],
  'app in (web),n!=1': ['b'],
  'app=': [],
  '': ['a', 'b', 'c', 'd'],
}

const byLabel = Object.fromEntries(
  Object.entries(found).map(([selector, names]) => [
    `the label selector "${selector}" finds ${names.join(', ') || 'nothing'}`,
    async (fixture: Fixture) => {
      await labelled(fixture)
      const list = await fixture.http.get(fixture.core('configmaps'), { query: { labelSelector: selector } })
      assert.equal(list.status, 200)
      assert.deepEqual(list.names, names)
    },
  ]),
)

export const selectors = chapter('selectors', {
  ...byLabel,
  'rejects an invalid label selector': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { labelSelector: 'a b c' } })
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('reason'), 'BadRequest')
    assert.match(rejected.text('message'), /^unable to parse requirement: /)
  },
  'rejects a label selector with an invalid value': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { labelSelector: 'a=b c' } })
    assert.equal(rejected.status, 400)
  },
  'the field selector metadata.name finds one object': async fixture => {
    await labelled(fixture)
    const list = await fixture.http.get(fixture.core('configmaps'), {
      query: { fieldSelector: 'metadata.name=b' },
    })
    assert.deepEqual(list.names, ['b'])
    const others = await fixture.http.get(fixture.core('configmaps'), {
      query: { fieldSelector: 'metadata.name!=b' },
    })
    assert.deepEqual(others.names, ['a', 'c', 'd'])
  },
  'replica sets cannot be selected by their status': async ({ http, group }) => {
    const rejected = await http.get(group('apps/v1', 'replicasets'), {
      query: { fieldSelector: 'status.replicas=0' },
    })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )
  },
  'combines label and field selectors': async fixture => {
    await labelled(fixture)
    const list = await fixture.http.get(fixture.core('configmaps'), {
      query: { fieldSelector: 'metadata.name!=b', labelSelector: 'app=web' },
    })
    assert.deepEqual(list.names, ['a'])
  },
  'the field selector metadata.namespace works over all namespaces': async fixture => {
    await labelled(fixture)
    const list = await fixture.http.get('/api/v1/configmaps', {
      query: { fieldSelector: `metadata.namespace=${fixture.namespace}` },
    })
    assert.deepEqual(list.names, ['a', 'b', 'c', 'd'])
  },
  'selects pods by phase, node and scheduler': async ({ http, core }) => {
    await http.post(core('pods'), pod('a', { schedulerName: 'mine' }))
    await http.post(core('pods'), pod('b', { nodeName: 'n1' }))
    const by = async (fieldSelector: string) =>
      (await http.get(core('pods'), { query: { fieldSelector } })).names
    assert.deepEqual(await by('spec.nodeName=n1'), ['b'])
    assert.deepEqual(await by('spec.nodeName='), ['a'])
    assert.deepEqual(await by('spec.schedulerName=mine'), ['a'])
    assert.deepEqual(await by('status.phase=Pending'), ['a', 'b'])
    assert.deepEqual(await by('status.phase!=Pending'), [])
    assert.deepEqual(await by('spec.restartPolicy=Always,metadata.name=b'), ['b'])
  },
  'selects events by their involved object': async ({ http, core, namespace }) => {
    const event = (name: string, about: string) => ({
      metadata: { name },
      involvedObject: { kind: 'Pod', name: about, namespace },
      reason: 'Because',
      type: 'Normal',
      message: 'm',
    })
    await http.post(core('events'), event('a', 'x'))
    await http.post(core('events'), event('b', 'y'))
    const list = await http.get(core('events'), {
      query: { fieldSelector: `involvedObject.name=y,involvedObject.namespace=${namespace}` },
    })
    assert.deepEqual(list.names, ['b'])
    assert.deepEqual((await http.get(core('events'), { query: { fieldSelector: 'reason=Other' } })).names, [])
  },
  'selects secrets by type': async ({ http, core }) => {
    await http.post(core('secrets'), { metadata: { name: 'a' }, type: 'example.com/x' })
    await http.post(core('secrets'), { metadata: { name: 'b' } })
    assert.deepEqual((await http.get(core('secrets'), { query: { fieldSelector: 'type=Opaque' } })).names, [
      'b',
    ])
  },
  'rejects a field that is not selectable': async ({ http, core }) => {
    const pods = await http.get(core('pods'), { query: { fieldSelector: 'spec.nope=1' } })
    assert.equal(pods.status, 400)
    assert.match(pods.text('message'), /field label not supported: spec\.nope/)
    const maps = await http.get(core('configmaps'), { query: { fieldSelector: 'data.x=1' } })
    assert.equal(maps.status, 400)
    assert.match(
      maps.text('message'),
      /"data\.x" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
    )
  },
})
