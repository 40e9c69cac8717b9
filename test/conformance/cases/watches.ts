// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

async function revision({ http, core }: Fixture): Promise<string> {
  return (await http.get(core('configmaps'))).text('metadata.resourceVersion')
}

export const watches = chapter('watches', {
  'a watch without a version starts with the existing objects': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    using watch = await http.watch(core('configmaps'))
    const event = await watch.nextChange()
    assert.equal(event?.type, 'ADDED')
    assert.equal(event?.at('metadata.name'), 'a')
  },
  'a watch from the version of a list sends all later events': async fixture => {
    const { http, core } = fixture
    await http.post(core('configmaps'), configMap('before'))
    using watch = await http.watch(core('configmaps'), { resourceVersion: await revision(fixture) })
    await http.post(core('configmaps'), configMap('a'))
    await http.mergePatch(core('configmaps/a'), { data: { key: 'other' } })
    await http.delete(core('configmaps/a'))
    const events = await watch.take(3)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    )
    assert.deepEqual(
      events.map(event => event.at('metadata.name')),
      ['a', 'a', 'a'],
    )
    assert.equal(events[1]?.at('data.key'), 'other')
  },
  'objects in a watch carry kind and apiVersion': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    using watch = await http.watch(core('configmaps'))
    const event = await watch.nextChange()
    assert.equal(event?.at('kind'), 'ConfigMap')
    assert.equal(event?.at('apiVersion'), 'v1')
  },
  'every event has a higher resourceVersion, also the deletion': async fixture => {
    const { http, core } = fixture
    using watch = await http.watch(core('configmaps'), { resourceVersion: await revision(fixture) })
    await http.post(core('configmaps'), configMap('a'))
    await http.mergePatch(core('configmaps/a'), { data: { key: 'b' } })
    await http.delete(core('configmaps/a'))
    const versions = (await watch.take(3)).map(event => Number(event.at('metadata.resourceVersion')))
    assert.ok(versions[0]! < versions[1]! && versions[1]! < versions[2]!, String(versions))
  },
  'a watch of a namespace sends only its objects': async fixture => {
    const { http, core } = fixture
    using watch = await http.watch(core('configmaps'), { resourceVersion: await revision(fixture) })
    await http.post('/api/v1/namespaces/default/configmaps', configMap(fixture.id))
    await http.post(core('configmaps'), configMap('mine'))
    assert.equal((await watch.nextChange())?.at('metadata.name'), 'mine')
  },
  'a watch over all namespaces sends the objects of each': async fixture => {
    const { http, core, id } = fixture
    using watch = await http.watch('/api/v1/configmaps', {
      resourceVersion: await revision(fixture),
      fieldSelector: `metadata.name=${id}`,
    })
    await http.post(core('configmaps'), configMap(id))
    assert.equal((await watch.nextChange())?.at('metadata.namespace'), id)
  },
  'an object that starts to match is ADDED, one that no longer matches is DELETED': async fixture => {
    const { http, core } = fixture
    await http.post(core('configmaps'), configMap('a'))
    using watch = await http.watch(core('configmaps'), {
      resourceVersion: await revision(fixture),
      labelSelector: 'on=yes',
    })
    await http.mergePatch(core('configmaps/a'), { metadata: { labels: { on: 'yes' } } })
    await http.mergePatch(core('configmaps/a'), { data: { key: 'x' } })
    await http.mergePatch(core('configmaps/a'), { metadata: { labels: { on: 'no' } } })
    const events = await watch.take(3)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    )
  },
  'the DELETED event has the last matching object with the new version': async fixture => {
    const { http, core } = fixture
    await http.post(core('configmaps'), configMap('a', {}, { labels: { on: 'yes' } }))
    using watch = await http.watch(core('configmaps'), {
      resourceVersion: await revision(fixture),
      labelSelector: 'on=yes',
    })
    const left = await http.mergePatch(core('configmaps/a'), { metadata: { labels: { on: 'no' } } })
    const event = await watch.nextChange()
    assert.equal(event?.type, 'DELETED')
    assert.equal(event?.at('metadata.labels.on'), 'yes')
    assert.equal(event?.at('metadata.resourceVersion'), left.at('metadata.resourceVersion'))
  },
  'a watch of one name sends no other object': async fixture => {
    const { http, core } = fixture
    using watch = await http.watch(core('configmaps'), {
      resourceVersion: await revision(fixture),
      fieldSelector: 'metadata.name=b',
    })
    await http.post(core('configmaps'), configMap('a'))
    await http.post(core('configmaps'), configMap('b'))
    assert.equal((await watch.nextChange())?.at('metadata.name'), 'b')
  },
  'a pod starts to match a node selector when it is bound': async fixture => {
    const { http, core } = fixture
    await http.post(core('pods'), pod('a'))
    using watch = await http.watch(core('pods'), {
      resourceVersion: await revision(fixture),
      fieldSelector: 'spec.nodeName=n1',
    })
    await http.post(core('pods/a/binding'), { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } })
    const event = await watch.nextChange()
    assert.equal(event?.type, 'ADDED')
    assert.equal(event?.at('spec.nodeName'), 'n1')
  },
  'a streaming list ends with an annotated bookmark': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    await http.post(core('configmaps'), configMap('b'))
    using watch = await http.watch(core('configmaps'), {
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
      resourceVersionMatch: 'NotOlderThan',
    })
    const events = [await watch.next(), await watch.next(), await watch.next()]
    assert.deepEqual(
      events.map(event => event?.type),
      ['ADDED', 'ADDED', 'BOOKMARK'],
    )
    assert.equal(events[2]?.at('metadata', 'annotations', 'k8s.io/initial-events-end'), 'true')
    assert.match(String(events[2]?.at('metadata.resourceVersion')), /^\d+$/)
    assert.equal(events[2]?.at('kind'), 'ConfigMap')
  },
  'a streaming list continues as a watch': async ({ http, core }) => {
    using watch = await http.watch(core('configmaps'), {
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
      resourceVersionMatch: 'NotOlderThan',
    })
    assert.equal((await watch.next())?.type, 'BOOKMARK')
    await http.post(core('configmaps'), configMap('later'))
    assert.equal((await watch.nextChange())?.at('metadata.name'), 'later')
  },
  'sendInitialEvents requires resourceVersionMatch': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), {
      query: { watch: 'true', sendInitialEvents: 'true' },
    })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    )
  },
  'rejects sendInitialEvents in lists': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { sendInitialEvents: 'true' } })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list/,
    )
  },
  'rejects resourceVersionMatch without sendInitialEvents in watches': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), {
      query: { watch: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '1' },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
    )
  },
  'rejects a resourceVersion that is not a number': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { query: { watch: 'true', resourceVersion: 'abc' } })
    assert.equal(rejected.status, 500)
    assert.equal(
      rejected.at('message'),
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    )
  },
  'a watch ends after timeoutSeconds': async ({ http, core }) => {
    using watch = await http.watch(core('configmaps'), { resourceVersion: '0', timeoutSeconds: '1' })
    assert.equal(await watch.nextChange(), undefined)
  },
  'a watch of tables sends one table per event, with columns in the first': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    await http.post(core('configmaps'), configMap('b'))
    using watch = await http.watch(
      core('configmaps'),
      {},
      { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    )
    const [first, second] = await watch.take(2)
    assert.equal(first?.at('kind'), 'Table')
    assert.equal(first?.at('columnDefinitions.0.name'), 'Name')
    assert.equal(first?.at('rows.0.cells.0'), 'a')
    assert.equal(second?.at('columnDefinitions'), null)
    assert.equal(second?.at('rows.0.cells.0'), 'b')
  },
  'a watch of PartialObjectMetadata sends only metadata': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    using watch = await http.watch(
      core('configmaps'),
      {},
      { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    )
    const event = await watch.nextChange()
    assert.equal(event?.at('kind'), 'PartialObjectMetadata')
    assert.equal(event?.at('data'), undefined)
    assert.equal(event?.at('metadata.name'), 'a')
  },
  'serves the deprecated watch path': async ({ http, core, namespace }) => {
    await http.post(core('configmaps'), configMap('a'))
    using watch = await http.watch(`/api/v1/watch/namespaces/${namespace}/configmaps`)
    assert.equal((await watch.nextChange())?.at('metadata.name'), 'a')
  },
  'the deletion of a pod without a node sends MODIFIED and DELETED': async fixture => {
    const { http, core } = fixture
    await http.post(core('pods'), pod('a'))
    using watch = await http.watch(core('pods'), { resourceVersion: await revision(fixture) })
    await http.delete(core('pods/a'))
    const events = await watch.take(2)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['MODIFIED', 'DELETED'],
    )
    assert.notEqual(events[0]?.at('metadata.deletionTimestamp'), undefined)
  },
})
