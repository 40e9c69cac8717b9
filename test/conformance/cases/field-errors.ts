// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const main = { name: 'main', image: 'i' }

/** Errors in a pod, and the reported fields and messages. */
const rejections: Record<string, [spec: object, message: RegExp]> = {
  'without containers': [{ containers: [] }, /spec\.containers: Required value/],
  'with a container without a name': [
    { containers: [{ image: 'i' }] },
    /spec\.containers\[0\]\.name: Required value/,
  ],
  'with a container without an image': [
    { containers: [{ name: 'a' }] },
    /spec\.containers\[0\]\.image: Required value/,
  ],
  'with a duplicate container name': [
    { containers: [main, main] },
    /spec\.containers\[1\]\.name: Duplicate value: "main"/,
  ],
  'with a container name in capitals': [
    { containers: [{ name: 'A', image: 'i' }] },
    /spec\.containers\[0\]\.name: Invalid value: "A": a lowercase RFC 1123 label must consist of/,
  ],
  'with an unknown restart policy': [
    { restartPolicy: 'Sometimes' },
    /spec\.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"/,
  ],
  'with an unknown pull policy': [
    { containers: [{ ...main, imagePullPolicy: 'Maybe' }] },
    /spec\.containers\[0\]\.imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"/,
  ],
  'with a mount of an unknown volume': [
    { containers: [{ ...main, volumeMounts: [{ name: 'v', mountPath: '/x' }] }] },
    /spec\.containers\[0\]\.volumeMounts\[0\]\.name: Not found: "v"/,
  ],
  'with a duplicate volume name': [
    { volumes: [{ name: 'v' }, { name: 'v' }] },
    /spec\.volumes\[1\]\.name: Duplicate value: "v"/,
  ],
  'with a port out of range': [
    { containers: [{ ...main, ports: [{ containerPort: 70_000 }] }] },
    /spec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive/,
  ],
  'with negative resources': [
    { containers: [{ ...main, resources: { requests: { cpu: '-1' } } }] },
    /spec\.containers\[0\]\.resources\.requests\[cpu\]: Invalid value: "-1": must be greater than or equal to 0/,
  ],
  'with deadline 0': [
    { activeDeadlineSeconds: 0 },
    /spec\.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive/,
  ],
  'with an invalid toleration': [
    { tolerations: [{ operator: 'Equal', value: 'x' }] },
    /spec\.tolerations\[0\]\.operator: Invalid value: "Equal": operator must be Exists when `key` is empty/,
  ],
}

const rejectedPods = Object.fromEntries(
  Object.entries(rejections).map(([what, [spec, message]]) => [
    `a pod ${what} is invalid`,
    async ({ http, core }: Fixture) => {
      const rejected = await http.post(core('pods'), pod('p', spec))
      assert.equal(rejected.status, 422)
      assert.equal(rejected.at('reason'), 'Invalid')
      assert.match(rejected.text('message'), message)
    },
  ]),
)

/** Bodies that cannot be decoded as a pod, and the messages of Go's decoder. */
const unreadable: Record<string, [body: unknown, message: string]> = {
  'a number instead of a string': [
    { spec: { containers: [{ name: 1 }] } },
    'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
  ],
  'an object instead of a list': [
    { spec: { containers: {} } },
    'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  'a list instead of an object': [
    { spec: [] },
    'json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec',
  ],
  'a string instead of a boolean': [
    { spec: { hostNetwork: 'yes' } },
    'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool',
  ],
  'a fraction instead of an integer': [
    { spec: { activeDeadlineSeconds: 1.5 } },
    'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
  ],
  'an invalid quantity': [
    { spec: { containers: [{ resources: { limits: { cpu: 'abc' } } }] } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  'an invalid time': [
    { metadata: { creationTimestamp: 'noon' } },
    'parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"',
  ],
}

const unreadablePods = Object.fromEntries(
  Object.entries(unreadable).map(([what, [body, message]]) => [
    `${what} cannot be read`,
    async ({ http, core }: Fixture) => {
      const rejected = await http.post(core('pods'), body)
      assert.equal(rejected.status, 400)
      assert.equal(rejected.at('reason'), 'BadRequest')
      assert.equal(rejected.at('message'), `Pod in version "v1" cannot be handled as a Pod: ${message}`)
    },
  ]),
)

export const fieldErrors = chapter('field errors', {
  ...rejectedPods,
  ...unreadablePods,
  'an invalid object has a cause for every error': async ({ http, core }) => {
    const rejected = await http.post(core('pods'), { metadata: { name: 'A_' } })
    assert.equal(rejected.status, 422)
    const text =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    assert.deepEqual(rejected.at('details'), {
      name: 'A_',
      kind: 'Pod',
      causes: [
        { reason: 'FieldValueInvalid', message: `Invalid value: "A_": ${text}`, field: 'metadata.name' },
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' },
      ],
    })
  },
  'requires a name or generateName': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), { metadata: {} })
    assert.equal(
      rejected.at('message'),
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    )
  },
  'labels must be valid': async ({ http, core }) => {
    const rejected = await http.post(
      core('configmaps'),
      configMap('a', {}, { labels: { 'a b': 'x', ok: 'not ok!' } }),
    )
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /metadata\.labels: Invalid value: "a b": name part must consist of/,
    )
    assert.match(
      rejected.text('message'),
      /metadata\.labels: Invalid value: "not ok!": a valid label must be an empty string or consist of/,
    )
  },
  'keys of config maps must be valid file names': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a', { 'a/b': 'x' }))
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/,
    )
  },
  'data of secrets must be base64': async ({ http, core }) => {
    const rejected = await http.post(core('secrets'), { metadata: { name: 's' }, data: { a: '%%' } })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    )
  },
  'warns of unknown fields': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), { ...configMap('a'), nope: 1 })
    assert.equal(made.status, 201)
    assert.equal(made.headers.warning, '299 - "unknown field \\"nope\\""')
    assert.equal(made.at('nope'), undefined)
  },
  'ignores unknown fields if requested': async ({ http, core }) => {
    const made = await http.post(
      core('configmaps'),
      { ...configMap('a'), nope: 1 },
      { query: { fieldValidation: 'Ignore' } },
    )
    assert.equal(made.status, 201)
    assert.equal(made.headers.warning, undefined)
  },
  'strict validation rejects unknown and duplicate fields in the order of the body': async ({
    http,
    core,
  }) => {
    const body = '{"metadata":{"name":"a","bad":1},"data":{"k":"1","k":"2"},"worse":{}}'
    const rejected = await http.post(core('configmaps'), body, { query: { fieldValidation: 'Strict' } })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.bad", duplicate field "data.k", unknown field "worse"',
    )
  },
  'names unknown nested fields by path': async ({ http, core }) => {
    const rejected = await http.post(
      core('pods'),
      pod('p', { containers: [{ ...main, nope: 1 }], alsoNope: 2 }),
      { query: { fieldValidation: 'Strict' } },
    )
    assert.equal(
      rejected.at('message'),
      'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].nope", unknown field "spec.alsoNope"',
    )
  },
  'accepts three values of fieldValidation': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a'), {
      query: { fieldValidation: 'Harsh' },
    })
    assert.equal(
      rejected.at('message'),
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Harsh": supported values: "", "Ignore", "Strict", "Warn"',
    )
  },
  'owner references must be complete': async ({ http, core }) => {
    const rejected = await http.post(
      core('configmaps'),
      configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }),
    )
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /metadata\.ownerReferences\[0\]\.uid: Required value: must not be empty/,
    )
  },
})
