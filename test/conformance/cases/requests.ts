// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, pod } from '../objects.ts'
import { chapter } from '../suite.ts'

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
const metadataOnly = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }

export const requests = chapter('requests and responses', {
  'an unknown path returns a plain 404': async ({ http }) => {
    const response = await http.get('/nope')
    assert.equal(response.status, 404)
    assert.equal(response.raw, '404 page not found\n')
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8')
  },
  'an unknown group returns a plain 404': async ({ http, group }) => {
    assert.equal((await http.get(group('nope.example.com/v1', 'things'))).raw, '404 page not found\n')
  },
  'an unknown resource of a known version returns a Status': async ({ http, core }) => {
    const response = await http.get(core('things'))
    assert.equal(response.status, 404)
    assert.deepEqual(response.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server could not find the requested resource',
      reason: 'NotFound',
      details: {},
      code: 404,
    })
  },
  'rejects a create request without a namespace': async ({ http }) => {
    const rejected = await http.post('/api/v1/configmaps', configMap('a'))
    assert.equal(rejected.status, 405)
    assert.deepEqual(rejected.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server does not allow this method on the requested resource',
      reason: 'MethodNotAllowed',
      details: {},
      code: 405,
    })
  },
  'a namespaced object has no path without its namespace': async ({ http }) => {
    const response = await http.get('/api/v1/configmaps/a')
    assert.equal(response.status, 404)
    assert.equal(response.at('message'), 'the server could not find the requested resource')
  },
  'rejects a create request with a name in the path': async ({ http, core }) => {
    assert.equal((await http.post(core('configmaps/a'), configMap('a'))).status, 405)
  },
  'rejects an update without a name': async ({ http, core }) => {
    assert.equal((await http.put(core('configmaps'), configMap('a'))).status, 405)
  },
  'cluster-scoped objects have no namespace in their path': async ({ http, core }) => {
    assert.equal((await http.get(core('nodes'))).status, 404)
  },
  'rejects a body that is not JSON': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), 'a: b')
    assert.equal(rejected.status, 400)
    assert.match(
      rejected.text('message'),
      /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: invalid character 'a' looking for beginning of value/,
    )
  },
  'rejects an empty body': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), '')
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    )
  },
  'rejects a body of another media type': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), '{}', { contentType: 'text/plain' })
    assert.equal(rejected.status, 415)
    assert.equal(
      rejected.at('message'),
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
  },
  'returns 406 if the client accepts no available media type': async ({ http, core }) => {
    const rejected = await http.get(core('configmaps'), { headers: { accept: 'text/html' } })
    assert.equal(rejected.status, 406)
    assert.equal(rejected.at('reason'), 'NotAcceptable')
  },
  'rejects another kind than that of the path': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), pod('p'))
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    )
  },
  'rejects another version than that of the path': async ({ http, group }) => {
    const rejected = await http.post(group('apps/v1', 'deployments'), {
      ...deployment('d'),
      apiVersion: 'apps/v2',
    })
    assert.equal(rejected.status, 400)
    assert.match(
      rejected.text('message'),
      /^Deployment in version "v2" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps\/v2" in scheme/,
    )
  },
  'a table has columns and rows with metadata': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a', { x: '1', y: '2' }))
    const response = await http.get(core('configmaps'), { headers: table })
    assert.equal(response.at('kind'), 'Table')
    assert.equal(response.at('apiVersion'), 'meta.k8s.io/v1')
    assert.match(response.text('metadata.resourceVersion'), /^\d+$/)
    assert.deepEqual(
      (response.at('columnDefinitions') as { name: string }[]).map(({ name }) => name),
      ['Name', 'Data', 'Age'],
    )
    assert.deepEqual((response.at('rows.0.cells') as unknown[]).slice(0, 2), ['a', 2])
    assert.equal(response.at('rows.0.object.kind'), 'PartialObjectMetadata')
    assert.equal(response.at('rows.0.object.metadata.name'), 'a')
  },
  'includeObject determines the content of table rows': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const none = await http.get(core('configmaps'), { headers: table, query: { includeObject: 'None' } })
    assert.equal(none.at('rows.0.object'), null)
    const whole = await http.get(core('configmaps'), { headers: table, query: { includeObject: 'Object' } })
    assert.equal(whole.at('rows.0.object.data.key'), 'value')
  },
  'the table of one object has one row': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const response = await http.get(core('configmaps/a'), { headers: table })
    assert.equal(response.at('kind'), 'Table')
    assert.equal((response.at('rows') as unknown[]).length, 1)
  },
  'columns of pods': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const response = await http.get(core('pods'), { headers: table })
    assert.deepEqual(
      (response.at('columnDefinitions') as { name: string; priority: number }[]).map(({ name, priority }) => [
        name,
        priority,
      ]),
      [
        ['Name', 0],
        ['Ready', 0],
        ['Status', 0],
        ['Restarts', 0],
        ['Age', 0],
        ['IP', 1],
        ['Node', 1],
        ['Nominated Node', 1],
        ['Readiness Gates', 1],
      ],
    )
    const cells = response.at('rows.0.cells') as unknown[]
    assert.deepEqual(
      [...cells.slice(0, 4), ...cells.slice(5)],
      ['p', '0/1', 'Pending', '0', '<none>', '<none>', '<none>', '<none>'],
    )
  },
  'the status column of a pod shows the reason of its waiting container': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', { nodeName: 'n1' }))
    const cell = async (status: object) => {
      await http.mergePatch(core('pods/p/status'), { status })
      return ((await http.get(core('pods'), { headers: table })).at('rows.0.cells') as unknown[]).slice(1, 3)
    }
    const state = (value: object, ready = false) => ({
      phase: 'Running',
      containerStatuses: [
        { name: 'main', image: 'i', imageID: '', ready, restartCount: 0, state: value, lastState: {} },
      ],
    })
    assert.deepEqual(await cell(state({ waiting: { reason: 'ImagePullBackOff' } })), [
      '0/1',
      'ImagePullBackOff',
    ])
    assert.deepEqual(await cell(state({ running: {} }, true)), ['1/1', 'Running'])
    await http.delete(core('pods/p'))
    assert.deepEqual(await cell(state({ running: {} }, true)), ['1/1', 'Terminating'])
  },
  'columns of deployments': async ({ http, group }) => {
    await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 3 }))
    const response = await http.get(group('apps/v1', 'deployments'), { headers: table })
    assert.deepEqual(
      (response.at('columnDefinitions') as { name: string }[]).map(({ name }) => name),
      ['Name', 'Ready', 'Up-to-date', 'Available', 'Age', 'Containers', 'Images', 'Selector'],
    )
    const cells = response.at('rows.0.cells') as unknown[]
    assert.deepEqual(
      [...cells.slice(0, 4), ...cells.slice(5)],
      ['d', '0/3', 0, 0, 'main', 'registry.example/app:1', 'app=d'],
    )
  },
  'returns PartialObjectMetadata if requested': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const one = await http.get(core('configmaps/a'), { headers: metadataOnly })
    assert.equal(one.at('kind'), 'PartialObjectMetadata')
    assert.equal(one.at('apiVersion'), 'meta.k8s.io/v1')
    assert.equal(one.at('data'), undefined)
    const all = await http.get(core('configmaps'), {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    })
    assert.equal(all.at('kind'), 'PartialObjectMetadataList')
    assert.equal(all.at('items.0.metadata.name'), 'a')
  },
  'an empty PartialObjectMetadataList has null items': async ({ http, core }) => {
    const headers = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }
    const none = await http.get(core('pods'), { headers })
    assert.equal(none.at('kind'), 'PartialObjectMetadataList')
    assert.equal(none.at('items'), null)
    assert.deepEqual((await http.get(core('pods'))).at('items'), [])
    const yaml = await http.get(core('pods'), {
      headers: { accept: 'application/yaml;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    })
    assert.match(yaml.raw, /^items: null$/m)
  },
  'returns YAML if requested': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const response = await http.get(core('configmaps/a'), { headers: { accept: 'application/yaml' } })
    assert.equal(response.headers['content-type'], 'application/yaml')
    assert.match(response.raw, /^apiVersion: v1$/m)
  },
})
