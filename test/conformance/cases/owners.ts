// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, defineWidgets, deployment, pod, service, widget } from '../objects.ts'
import { ownerNames, ownersOf } from '../owners.ts'
import { chapter } from '../suite.ts'

const as = (fieldManager: string) => ({ query: { fieldManager } })

export const owners = chapter('managedFields', {
  'the creator owns all fields of the object': async ({ http, core }) => {
    const made = await http.post(
      core('configmaps'),
      configMap('m', { a: '1' }, { labels: { l: 'v' } }),
      as('me'),
    )
    const entries = made.at('metadata.managedFields') as Record<string, unknown>[]
    assert.equal(entries.length, 1)
    const { time, ...entry } = entries[0]!
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(entry, {
      manager: 'me',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    })
  },
  'the user agent is the default name of the manager': async ({ http, core }) => {
    const options = { headers: { 'user-agent': 'tool/v1.2 (linux)' } }
    assert.deepEqual(ownerNames(await http.post(core('configmaps'), configMap('m'), options)), [
      'tool Update',
    ])
    assert.deepEqual(ownerNames(await http.post(core('configmaps'), configMap('n'))), ['unknown Update'])
  },
  'tracks defaults, but no fields that admission and the server set': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('p'), as('me'))
    assert.deepEqual(ownersOf(made), {
      'me Update': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"main"}': {
              '.': {},
              'f:image': {},
              'f:imagePullPolicy': {},
              'f:name': {},
              'f:resources': {},
              'f:terminationMessagePath': {},
              'f:terminationMessagePolicy': {},
            },
          },
          'f:dnsPolicy': {},
          'f:enableServiceLinks': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:securityContext': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
    })
  },
  'an allocated cluster IP has no manager': async ({ http, core }) => {
    const made = await http.post(core('services'), service('s'), as('me'))
    assert.deepEqual(ownersOf(made), {
      'me Update': {
        'f:spec': {
          'f:internalTrafficPolicy': {},
          'f:ports': {
            '.': {},
            'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} },
          },
          'f:selector': {},
          'f:sessionAffinity': {},
          'f:type': {},
        },
      },
    })
  },
  'generateName belongs to the creator': async ({ http, core }) => {
    const made = await http.post(
      core('configmaps'),
      { metadata: { generateName: 'g-' }, data: { a: '1' } },
      as('me'),
    )
    assert.deepEqual(ownersOf(made), {
      'me Update': { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:generateName': {} } },
    })
  },
  'a patch takes ownership of the fields that it changes': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('m', { a: '1', b: '2' }), as('one'))
    const patched = await http.mergePatch(core('configmaps/m'), { data: { a: '9', c: '3' } }, as('two'))
    assert.deepEqual(ownersOf(patched), {
      'one Update': { 'f:data': { '.': {}, 'f:b': {} } },
      'two Update': { 'f:data': { 'f:a': {}, 'f:c': {} } },
    })
  },
  'tracks every type of patch': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('m', { a: '1' }), as('one'))
    await http.jsonPatch(core('configmaps/m'), [{ op: 'add', path: '/data/j', value: '1' }], as('json'))
    const last = await http.strategicPatch(core('configmaps/m'), { data: { s: '1' } }, as('strategic'))
    const found = ownersOf(last)
    assert.deepEqual(found['json Update'], { 'f:data': { 'f:j': {} } })
    assert.deepEqual(found['strategic Update'], { 'f:data': { 'f:s': {} } })
  },
  'an update without managedFields keeps them': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('m', { a: '1', b: '2' }), as('one'))
    const updated = await http.put(core('configmaps/m'), configMap('m', { a: '1', b: '3' }), as('two'))
    assert.deepEqual(ownersOf(updated), {
      'one Update': { 'f:data': { '.': {}, 'f:a': {} } },
      'two Update': { 'f:data': { 'f:b': {} } },
    })
  },
  'an update without changes writes nothing': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('m'), as('one'))
    const updated = await http.put(core('configmaps/m'), made.object(), as('two'))
    assert.equal(updated.raw, made.raw)
  },
  'an empty list of managers resets managedFields': async ({ http, core }) => {
    for (const [name, reset] of [
      ['m', []],
      ['n', [{}]],
    ] as const) {
      const made = await http.post(core('configmaps'), configMap(name), as('one'))
      const { metadata, ...rest } = made.object()
      const updated = await http.put(core(`configmaps/${name}`), {
        ...rest,
        metadata: { ...metadata, managedFields: reset },
      })
      assert.equal(updated.status, 200)
      assert.equal(updated.at('metadata.managedFields'), undefined)
    }
  },
  'tracks the status separately': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'), as('one'))
    const patched = await http.mergePatch(
      core('pods/p/status'),
      { status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' } },
      as('kubelet'),
    )
    const found = ownersOf(patched)
    assert.deepEqual(Object.keys(found).sort(), ['kubelet Update status', 'one Update'])
    assert.deepEqual(found['kubelet Update status'], {
      'f:status': {
        'f:conditions': {
          '.': {},
          'k:{"type":"Ready"}': {
            '.': {},
            'f:lastProbeTime': {},
            'f:lastTransitionTime': {},
            'f:status': {},
            'f:type': {},
          },
        },
        'f:phase': {},
      },
    })
  },
  'an update of the scale takes ownership of the replicas': async ({ http, group }) => {
    const path = group('apps/v1', 'deployments/d')
    await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 1 }), as('one'))
    const scaled = await http.mergePatch(`${path}/scale`, { spec: { replicas: 3 } }, as('scaler'))
    assert.equal(scaled.at('metadata.managedFields'), undefined)
    const after = await http.get(path)
    assert.deepEqual(ownersOf(after)['scaler Update scale'], { 'f:spec': { 'f:replicas': {} } })
    assert.equal(JSON.stringify(ownersOf(after)['one Update']).includes('f:replicas'), false)
    const updated = await http.put(
      `${path}/scale`,
      {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'd', namespace: after.at('metadata.namespace') },
        spec: { replicas: 4 },
      },
      as('other'),
    )
    assert.equal(updated.status, 200)
    const last = await http.get(path)
    assert.deepEqual(ownerNames(last).sort(), ['one Update', 'other Update scale'])
  },
  'tracks custom resources like built-in kinds': async fixture => {
    const { http } = fixture
    const path = await defineWidgets(fixture)
    const made = await http.post(path, widget(fixture, 'w', { size: 2, parts: [{ name: 'a' }] }), as('one'))
    assert.deepEqual(ownersOf(made), {
      'one Update': { 'f:spec': { '.': {}, 'f:color': {}, 'f:parts': {}, 'f:size': {} } },
    })
    const patched = await http.mergePatch(`${path}/w/status`, { status: { phase: 'Up' } }, as('two'))
    assert.deepEqual(ownersOf(patched), {
      'one Update': { 'f:spec': { '.': {}, 'f:color': {}, 'f:parts': {}, 'f:size': {} } },
      'two Update status': { 'f:status': { '.': {}, 'f:phase': {} } },
    })
    const scaled = await http.mergePatch(path.concat('/w'), { spec: { replicas: 1 } }, as('three'))
    assert.deepEqual(ownersOf(scaled)['three Update'], { 'f:spec': { 'f:replicas': {} } })
    await http.mergePatch(path.concat('/w/scale'), { spec: { replicas: 2 } }, as('four'))
    assert.deepEqual(ownersOf(await http.get(path.concat('/w')))['four Update scale'], {
      'f:spec': { 'f:replicas': {} },
    })
  },
  'binding a pod gives no manager its node': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'), as('one'))
    await http.post(
      core('pods/p/binding'),
      {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p' },
        target: { apiVersion: 'v1', kind: 'Node', name: 'n' },
      },
      as('scheduler'),
    )
    const bound = await http.get(core('pods/p'))
    assert.equal(bound.at('spec.nodeName'), 'n')
    assert.deepEqual(ownerNames(bound), ['one Update'])
  },
})
