// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, defineWidgets, pod, service, widget } from '../objects.ts'
import { ownersOf } from '../owners.ts'
import { chapter } from '../suite.ts'

const text = { type: 'string' }

/** A Deployment with lists of every merge type. */
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        args: { type: 'array', items: text },
        unit: { type: 'object', properties: { a: text, b: text }, 'x-kubernetes-map-type': 'atomic' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            required: ['port'],
            properties: { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text },
          },
        },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
}
const version = { subresources: { status: {} }, schema: { openAPIV3Schema: schema } }

export const applyLists = chapter('server-side apply of lists', {
  'containers are merged by name': async ({ http, core }) => {
    const metadata = { labels: { a: 'b' } }
    await http.apply(core('pods/p'), pod('p', {}, metadata), 'one')
    const image = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'main', image: 'registry.example/app:2' }] },
    }
    const forced = await http.apply(core('pods/p'), image, 'two', { force: 'true' })
    assert.equal(forced.status, 200)
    assert.equal(forced.at('spec.containers.0.image'), 'registry.example/app:2')
    assert.deepEqual(ownersOf(forced), {
      'one Apply': {
        'f:metadata': { 'f:labels': { 'f:a': {} } },
        'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:name': {} } } },
      },
      'two Apply': {
        'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
      },
    })
  },
  'an omitted key of a list item has its default': async ({ http, core }) => {
    const made = await http.apply(
      core('services/s'),
      service('s', { ports: [{ name: 'a', port: 80 }] }),
      'one',
    )
    assert.equal(made.status, 201)
    const both = await http.apply(
      core('services/s'),
      service('s', {
        ports: [
          { name: 'a', port: 80, protocol: 'TCP' },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      }),
      'two',
    )
    assert.equal(both.status, 200)
    const names = (both.at('spec.ports') as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names, ['a', 'b'])
    const only = await http.apply(core('services/s'), service('s', { ports: undefined }), 'one')
    assert.equal((only.at('spec.ports') as unknown[]).length, 2)
  },
  'every item of a set has its own owners': async ({ http, core }) => {
    const held = (...finalizers: string[]) => configMap('m', { key: 'value' }, { finalizers })
    await http.apply(core('configmaps/m'), held('example.com/a', 'example.com/b'), 'one')
    const both = await http.apply(core('configmaps/m'), held('example.com/c'), 'two')
    assert.deepEqual(both.at('metadata.finalizers'), ['example.com/a', 'example.com/b', 'example.com/c'])
    const left = await http.apply(core('configmaps/m'), held('example.com/b'), 'one')
    assert.deepEqual(left.at('metadata.finalizers'), ['example.com/b', 'example.com/c'])
    assert.deepEqual(ownersOf(left)['two Apply'], {
      'f:data': { 'f:key': {} },
      'f:metadata': { 'f:finalizers': { 'v:"example.com/c"': {} } },
    })
    await http.mergePatch(core('configmaps/m'), { metadata: { finalizers: null } })
  },
  'the schema of a custom resource defines how its lists are merged': async fixture => {
    const { http } = fixture
    const path = `${await defineWidgets(fixture, version)}/w`
    const made = await http.apply(
      path,
      widget(fixture, 'w', {
        tags: ['a'],
        args: ['x', 'y'],
        unit: { a: '1' },
        ports: [{ port: 1, name: 'p' }],
      }),
      'one',
    )
    assert.equal(made.status, 201)
    assert.equal(made.at('spec.ports.0.protocol'), 'TCP')
    assert.deepEqual(ownersOf(made), {
      'one Apply': {
        'f:spec': {
          'f:args': {},
          'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
          'f:tags': { 'v:"a"': {} },
          'f:unit': {},
        },
      },
    })
    const both = await http.apply(
      path,
      widget(fixture, 'w', { tags: ['b'], ports: [{ port: 1, protocol: 'UDP' }] }),
      'two',
    )
    assert.deepEqual(both.at('spec.tags'), ['a', 'b'])
    assert.equal((both.at('spec.ports') as unknown[]).length, 2)
    const rejected = await http.apply(path, widget(fixture, 'w', { args: ['z'], unit: { b: '2' } }), 'three')
    assert.equal(
      rejected.at('message'),
      'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.args\n- .spec.unit',
    )
  },
  'a custom resource rejects the null that an emptied list leaves': async fixture => {
    const { http } = fixture
    const list = await defineWidgets(fixture, version)
    const path = `${list}/w`
    await http.apply(path, widget(fixture, 'w', { tags: ['a'] }), 'one')
    await http.mergePatch(path, { spec: { tags: ['b'] } }, { query: { fieldManager: 'two' } })
    await http.apply(path, widget(fixture, 'w', { tags: ['b'] }), 'one')
    await http.mergePatch(path, { spec: { tags: [] } }, { query: { fieldManager: 'two' } })
    await http.apply(path, widget(fixture, 'w', { tags: ['c'] }), 'one')
    const emptied = await http.apply(path, widget(fixture, 'w', {}), 'one')
    assert.equal(emptied.status, 422)
    assert.match(emptied.text('message'), /spec\.tags: Invalid value: "null"/)
  },
  'applies the status of a custom resource': async fixture => {
    const { http } = fixture
    const path = `${await defineWidgets(fixture, version)}/w`
    await http.apply(path, widget(fixture, 'w', { tags: ['a'] }), 'one')
    const applied = await http.apply(
      `${path}/status`,
      widget(fixture, 'w', { tags: ['ignored'] }, { status: { phase: 'Up' } }),
      'two',
    )
    assert.equal(applied.status, 200)
    assert.deepEqual(applied.at('spec.tags'), ['a'])
    assert.deepEqual(ownersOf(applied)['two Apply status'], { 'f:status': { 'f:phase': {} } })
  },
  'a custom resource rejects unknown fields': async fixture => {
    const { http } = fixture
    const path = `${await defineWidgets(fixture, version)}/w`
    const rejected = await http.apply(path, widget(fixture, 'w', { nonsense: 1 }), 'one')
    assert.equal(rejected.status, 500)
    assert.match(rejected.text('message'), /\.spec\.nonsense: field not declared in schema$/)
  },
})
