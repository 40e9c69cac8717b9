// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Http } from '../http.ts'
import { chapter } from '../suite.ts'

const path = '/apis/admissionregistration.k8s.io/v1'
const rule = { operations: ['CREATE'], apiGroups: ['a.example.com'], apiVersions: ['v1'], resources: ['x'] }
const hook = {
  name: 'a.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://127.0.0.1:1/x' },
  rules: [rule],
}
const withRule = (part: object) => ({ rules: [{ ...rule, ...part }] })
const withService = (part: object) => ({
  clientConfig: { service: { name: 'a', namespace: 'b', ...part } },
})

/** Errors in one webhook of a configuration, without the path prefix, which is the same for all. */
const mistakes: readonly [part: object, rejection: string][] = [
  [{ name: '' }, 'name: Required value'],
  [
    { name: 'abc' },
    'name: Invalid value: "abc": should be a domain with at least three segments separated by dots',
  ],
  [{ sideEffects: undefined }, 'sideEffects: Required value: must specify one of None, NoneOnDryRun'],
  [
    { sideEffects: 'Some' },
    'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
  ],
  [
    { admissionReviewVersions: [] },
    'admissionReviewVersions: Required value: must specify one of v1, v1beta1',
  ],
  [
    { admissionReviewVersions: ['v2'] },
    'admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  ],
  [
    { admissionReviewVersions: ['v1', 'v1'] },
    'admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
  ],
  [{ clientConfig: {} }, 'clientConfig: Required value: exactly one of url or service is required'],
  [
    { clientConfig: { url: 'http://x' } },
    `clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
  ],
  [
    { clientConfig: { url: 'https:///x' } },
    'clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
  ],
  [
    withService({ port: 70000 }),
    'clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    withService({ path: '//x' }),
    'clientConfig.service.path: Invalid value: "//x": segment[0] may not be empty',
  ],
  [
    { failurePolicy: 'Maybe' },
    'failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
  ],
  [
    { matchPolicy: 'Maybe' },
    'matchPolicy: Unsupported value: "Maybe": supported values: "Equivalent", "Exact"',
  ],
  [
    { timeoutSeconds: 31 },
    'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
  ],
  [
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    "objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [withRule({ operations: [] }), 'rules[0].operations: Required value'],
  [
    withRule({ operations: ['*', 'CREATE'] }),
    `rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
  ],
  [
    withRule({ operations: ['FROB'] }),
    'rules[0].operations[0]: Unsupported value: "FROB": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [withRule({ apiVersions: [''] }), 'rules[0].apiVersions[0]: Required value'],
  [
    withRule({ resources: ['*', 'x'] }),
    `rules[0].resources: Invalid value: ["*","x"]: if '*' is present, must not specify other resources without subresources`,
  ],
  [
    withRule({ resources: ['*/x', 'y/x'] }),
    `rules[0].resources[1]: Invalid value: "y/x": if '*/x' is present, must not specify y/x`,
  ],
  [
    withRule({ scope: 'Galaxy' }),
    'rules[0].scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"',
  ],
  [{ matchConditions: [{ name: 'a', expression: '' }] }, 'matchConditions[0].expression: Required value'],
  [
    { matchConditions: [{ name: 'a', expression: '1' }] },
    'matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
  ],
]

async function rejectionOf(http: Http, name: string, ...webhooks: object[]): Promise<string> {
  const rejected = await http.post(`${path}/validatingwebhookconfigurations`, {
    metadata: { name },
    webhooks,
  })
  assert.equal(rejected.status, 422, rejected.raw)
  const start = `ValidatingWebhookConfiguration.admissionregistration.k8s.io "${name}" is invalid: `
  assert.ok(rejected.text('message').startsWith(start))
  return rejected.text('message').slice(start.length)
}

export const webhookConfigurations = chapter('webhook configurations', {
  'reports the path of each error': async ({ http, id }) => {
    for (const [part, rejection] of mistakes)
      assert.equal(await rejectionOf(http, id, { ...hook, ...part }), `webhooks[0].${rejection}`)
  },
  'the webhooks of a configuration must have distinct names': async ({ http, id }) => {
    assert.equal(
      await rejectionOf(http, id, hook, hook),
      'webhooks[1].name: Duplicate value: "a.example.com"',
    )
  },
  'rejects invalid match conditions': async ({ http, id }) => {
    for (const expression of ['nope.x', 'object.'])
      assert.match(
        await rejectionOf(http, id, { ...hook, matchConditions: [{ name: 'a', expression }] }),
        /^webhooks\[0\]\.matchConditions\[0\]\.expression: Invalid value: "[^"]+": compilation failed: ERROR: <input>/,
      )
  },
  'rejects too many match conditions': async ({ http, id }) => {
    const matchConditions = Array.from({ length: 65 }, (_, index) => ({
      name: `a${index}`,
      expression: 'true',
    }))
    assert.equal(
      await rejectionOf(http, id, { ...hook, matchConditions }),
      'webhooks[0].matchConditions: Too many: 65: must have at most 64 items',
    )
  },
  'rejects an unknown reinvocation policy': async ({ http, id }) => {
    const rejected = await http.post(`${path}/mutatingwebhookconfigurations`, {
      metadata: { name: id },
      webhooks: [{ ...hook, reinvocationPolicy: 'Maybe' }],
    })
    assert.equal(
      rejected.at('message'),
      `MutatingWebhookConfiguration.admissionregistration.k8s.io "${id}" is invalid: webhooks[0].reinvocationPolicy: Unsupported value: "Maybe": supported values: "IfNeeded", "Never"`,
    )
  },
})
