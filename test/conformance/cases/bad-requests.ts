// SPDX-License-Identifier: Apache-2.0

// Malformed and malicious requests: each is rejected with a clear message, and the server keeps running.
import assert from 'node:assert/strict'
import type { CallOptions, Response } from '../http.ts'
import { configMap, defineWidgets, widget } from '../objects.ts'
import { chapter } from '../suite.ts'

const unrecognized =
  "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind"

/** Bodies that are not JSON, and the error in each. */
const malformed: Readonly<Record<string, string>> = {
  '{': 'unexpected end of JSON input ({)',
  '{"a":}': `invalid character '}' looking for beginning of value ({"a":})`,
  '{"a":1,}': `invalid character '}' looking for beginning of object key string ({"a":1,})`,
  '{"a":01}': `invalid character '1' after object key:value pair ({"a":01})`,
  '{} x': "invalid character 'x' after top-level value ({} x)",
  '{"a":"\\x"}': `invalid character 'x' in string escape code ({"a":"\\x"})`,
  '\ufeff{}': "invalid character 'ï' looking for beginning of value (efbbbf7b7d)",
  '{"kind":1}': 'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})',
}

const queries: Readonly<Record<string, string>> = {
  'limit=': 'strconv.ParseInt: parsing "": invalid syntax',
  'limit=99999999999999999999': 'strconv.ParseInt: parsing "99999999999999999999": value out of range',
  'timeoutSeconds=x': 'strconv.ParseInt: parsing "x": invalid syntax',
  'continue=e30':
    'invalid continue token: continue key is not valid: server does not recognize this encoded version ',
  'continue=garbage':
    "invalid continue token: continue key is not valid: invalid character '\\u0081' looking for beginning of value",
  'labelSelector=a+in+(': "unable to parse requirement: found '', expected: ',', ')' or identifier",
  'labelSelector=!': "unable to parse requirement: found '', expected: identifier",
  'fieldSelector=data.key%3D1':
    '"data.key" is not a known field selector: only "metadata.name", "metadata.namespace"',
}

/** Mutually exclusive options of a watch, and all reported errors. */
const watchQueries: Readonly<Record<string, string>> = {
  'sendInitialEvents=true&resourceVersionMatch=Exact':
    '[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
  'continue=e30':
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
}

const patchType = (name: string): CallOptions => ({ contentType: `application/${name}` })
const patches: readonly [type: string, body: string, code: number, message: string][] = [
  [
    'json-patch+json',
    '[1]',
    400,
    'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
  ],
  [
    'json-patch+json',
    '[{"op":"add","path":5}]',
    400,
    'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
  ],
  [
    'json-patch+json',
    '[{"op":"replace","path":"","value":{}}]',
    400,
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ],
  ['merge-patch+json', 'null', 400, 'Invalid JSON Patch'],
  [
    'merge-patch+json',
    '{"metadata":null}',
    400,
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ],
  [
    'merge-patch+json',
    '{"metadata":{"uid":"x"}}',
    422,
    'ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
  ],
  [
    'merge-patch+json',
    '{"metadata":{"finalizers":["x"]}}',
    422,
    'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
  ],
  [
    'strategic-merge-patch+json',
    '[]',
    400,
    'json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  [
    'apply-patch+yaml',
    '[]',
    400,
    'error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
]

const deletions: Readonly<Record<string, string>> = {
  '{': "couldn't get version/kind; json parse error: unexpected end of JSON input",
  '{"kind":"Pod","apiVersion":"v1"}':
    'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  '{"gracePeriodSeconds":"x"}':
    'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

function rejected(response: Response, code: number, message: string, about: string): void {
  assert.equal(response.at('message'), message, about)
  assert.equal(response.status, code, about)
}

export const badRequests = chapter('bad requests', {
  'reports the error in a body that is not JSON': async ({ http, core }) => {
    for (const [body, why] of Object.entries(malformed))
      rejected(
        await http.post(core('configmaps'), body),
        400,
        `${unrecognized}; json parse error: ${why}`,
        body,
      )
  },
  'shows only the beginning of a long body': async ({ http, core }) => {
    const response = await http.post(core('configmaps'), `{"data":{"key":"${'x'.repeat(100)}`)
    rejected(
      response,
      400,
      `${unrecognized}; json parse error: unexpected end of JSON input ({"data":{"key":"xxxxxxxxxxxxxx ...)`,
      'long',
    )
  },
  'replaces half of a surrogate pair': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), '{"metadata":{"name":"a"},"data":{"k":"\\ud800"}}')
    assert.equal(made.at('data.k'), '\ufffd')
  },
  'rejects deep nesting': async fixture => {
    const { http, core } = fixture
    const widgets = await defineWidgets(fixture)
    const deep = nested(20_000)
    const rejection = /json parse error: invalid character '\[' exceeded max depth/
    for (const path of [core('configmaps'), widgets]) {
      const response = await http.post(path, `{"metadata":{"name":"a"},"x":${deep}}`)
      assert.equal(response.status, 400)
      assert.match(response.text('message'), rejection)
    }
    await http.post(widgets, widget(fixture, 'a'))
    for (const type of ['json-patch+json', 'merge-patch+json'])
      rejected(
        await http.call('PATCH', `${widgets}/a`, `{"spec":{"free":${deep}}}`, patchType(type)),
        400,
        'invalid JSON patch',
        type,
      )
    const applied = await http.apply(`${widgets}/a`, `{"spec":{"free":${deep}}}`, 'm')
    assert.equal(applied.status, 400)
    assert.match(applied.text('message'), /yaml: exceeded max depth of \d+$/)
  },
  'rejects a body that is too large': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const large = configMap('a', { key: 'x'.repeat(4_000_000) })
    for (const [method, path] of [
      ['POST', core('configmaps')],
      ['PUT', core('configmaps/a')],
      ['DELETE', core('configmaps/a')],
    ] as const)
      rejected(
        await http.call(method, path, large),
        413,
        'Request entity too large: limit is 3145728',
        method,
      )
    assert.equal((await http.get(core('configmaps/a'))).status, 200)
  },
  'rejects invalid media types': async ({ http, core }) => {
    for (const type of ['application/json;;', 'application/x-yaml', 'garbage']) {
      const response = await http.post(core('configmaps'), configMap('a'), { contentType: type })
      assert.equal(response.status, 415, type)
    }
  },
  'rejects invalid protobuf': async ({ http, core }) => {
    const type = { contentType: 'application/vnd.kubernetes.protobuf' }
    rejected(
      await http.post(core('configmaps'), '{}', type),
      400,
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
      'protobuf',
    )
  },
  'rejects a request that accepts no supported media type': async ({ http, core }) => {
    const none = await http.get(core('configmaps'), { headers: { accept: 'garbage' } })
    assert.match(
      none.text('message'),
      /^406: Not Acceptable\n\nAvailable representations: application\/json, /,
    )
    const shape = { accept: 'application/json;as=Nope;v=v1;g=meta.k8s.io' }
    assert.equal(
      (await http.get(core('configmaps'), { headers: shape })).at('message'),
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
  },
  'rejects invalid query parameters': async ({ http, core }) => {
    for (const [query, why] of Object.entries(queries)) {
      const response = await http.get(`${core('configmaps')}?${query}`)
      assert.equal(response.status, 400, query)
      assert.ok(response.text('message').endsWith(why), `${query}: ${response.text('message')}`)
    }
  },
  'rejects mutually exclusive watch options': async ({ http, core }) => {
    for (const [query, why] of Object.entries(watchQueries))
      rejected(
        await http.get(`${core('configmaps')}?watch=1&${query}`),
        422,
        `ListOptions.meta.k8s.io "" is invalid: ${why}`,
        query,
      )
  },
  'an empty dryRun parameter means no dry run': async ({ http, core }) => {
    rejected(
      await http.post(core('configmaps'), configMap('a'), { query: { dryRun: '' } }),
      422,
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All"',
      'dryRun',
    )
  },
  'the name of a field manager must be printable': async ({ http, core }) => {
    rejected(
      await http.post(core('configmaps'), configMap('a'), { query: { fieldManager: 'a\tb' } }),
      422,
      'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)',
      'fieldManager',
    )
  },
  'rejects patches that do not fit the object': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    for (const [type, body, code, message] of patches) {
      const options = {
        ...patchType(type),
        ...(type.startsWith('apply') && { query: { fieldManager: 'm' } }),
      }
      rejected(
        await http.call('PATCH', core('configmaps/a'), body, options),
        code,
        message,
        `${type} ${body}`,
      )
    }
  },
  'rejects a patch that is not JSON, also if the object does not exist': async ({ http, core }) => {
    const path = core('configmaps/absent')
    rejected(await http.mergePatch(path, '{'), 400, 'invalid JSON patch', 'no JSON')
    assert.equal((await http.jsonPatch(path, '{}')).status, 404)
  },
  'rejects invalid delete options': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    for (const [body, message] of Object.entries(deletions))
      rejected(await http.delete(core('configmaps/a'), body), 400, message, body)
    const query = { query: { gracePeriodSeconds: 'x' } }
    rejected(
      await http.delete(core('configmaps/a'), undefined, query),
      400,
      'strconv.ParseInt: parsing "x": invalid syntax',
      'query',
    )
  },
  'rejects invalid names': async ({ http, core }) => {
    for (const name of ['A', 'a_b', '-a', 'ä', '😀', 'a'.repeat(254), 'a b', '..', 'a/b', 'a\u0000b'])
      assert.equal((await http.post(core('configmaps'), configMap(name))).status, 422, name)
    assert.match(
      (await http.post(core('configmaps'), configMap('a\nb'))).text('message'),
      /^ConfigMap "a\\nb" is invalid: metadata\.name: Invalid value: "a\\nb": /,
    )
  },
  'rejects invalid paths': async ({ http, core }) => {
    assert.equal((await http.get(core('configmaps/%00'))).at('message'), 'configmaps "\\x00" not found')
    const broken = await http.get(core('configmaps/%zz'))
    assert.equal(broken.status, 400)
    assert.equal(broken.raw, '400 Bad Request')
  },
})
