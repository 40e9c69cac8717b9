// SPDX-License-Identifier: Apache-2.0

// The requests for which a webhook is called, the order of webhooks, and their time-outs.
import assert from 'node:assert/strict'
import { withHook } from '../hook-configuration.ts'
import { type Respond, startHook } from '../hook-server.ts'
import { configMap } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const allow: Respond = () => ({ allowed: true })
const deny: Respond = () => ({ allowed: false, status: { message: 'seen' } })
const conditions = (...expressions: string[]) => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
})
const append =
  (text: string): Respond =>
  ({ object }) => {
    const trace = `${(object?.data as { trace?: string } | undefined)?.trace ?? ''}${text}`
    const patch = [{ op: 'add', path: '/data/trace', value: trace }]
    return {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    }
  }

/** Creates a ConfigMap and reports whether the webhook rejected it. */
async function isRejected(
  { http, core }: Fixture,
  name: string,
  data: Record<string, string> = { key: 'value' },
  metadata: object = {},
): Promise<boolean> {
  const response = await http.post(core('configmaps'), configMap(name, data, metadata))
  if (response.status === 201) return false
  assert.match(response.text('message'), /denied the request: seen$/)
  return true
}

type Setting = Parameters<Parameters<typeof withHook>[4]>[0]

/** A webhook that rejects every request. */
const denied = (fixture: Fixture, configuration: object, look: (setting: Setting) => Promise<void>) =>
  withHook(
    fixture,
    'Validating',
    deny,
    () => configuration,
    async setting => {
      await setting.heard()
      await look(setting)
    },
  )

export const webhookMatching = chapter('matching of admission webhooks', {
  'all match conditions must be true': fixture =>
    denied(
      fixture,
      conditions(
        "object.metadata.name.startsWith('probe') || has(object.data.validate)",
        'object.kind == "ConfigMap"',
      ),
      async setting => {
        assert.equal(await isRejected(setting, 'a'), false)
        assert.equal(await isRejected(setting, 'b', { validate: 'yes' }), true)
      },
    ),
  'match conditions can read the request and its user': fixture =>
    denied(
      fixture,
      conditions(
        `request.operation == 'CREATE' && request.namespace == '${fixture.namespace}'`,
        "request.resource.resource == 'configmaps' && 'system:masters' in request.userInfo.groups",
        '!request.dryRun && oldObject == null',
      ),
      async setting => {
        assert.equal(await isRejected(setting, 'a'), true)
      },
    ),
  'match conditions can read the old and the new object': fixture =>
    withHook(
      fixture,
      'Validating',
      ({ operation }) => ({ allowed: operation !== 'UPDATE', status: { message: 'seen' } }),
      () => conditions("request.operation != 'UPDATE' || object.data != oldObject.data"),
      async ({ heard, http, core }) => {
        const path = core(`configmaps/${(await heard()).text('metadata.name')}`)
        assert.equal((await http.mergePatch(path, { metadata: { labels: { a: 'b' } } })).status, 200)
        assert.equal((await http.mergePatch(path, { data: { a: 'b' } })).status, 400)
      },
    ),
  'a match condition that fails to evaluate rejects the request': fixture =>
    withHook(
      fixture,
      'Validating',
      allow,
      () => conditions("object.data.absent == 'x'"),
      async ({ heard }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 403)
        assert.match(
          rejected.text('message'),
          /^configmaps "probe-\d+" is forbidden: expression 'object\.data\.absent == 'x'' resulted in error: no such key: absent$/,
        )
      },
    ),
  'a false match condition takes precedence over one that fails to evaluate': fixture =>
    denied(
      fixture,
      conditions(
        "object.data.absent == 'x' || object.metadata.name.startsWith('probe')",
        "object.metadata.name != 'a'",
      ),
      async setting => {
        assert.equal(await isRejected(setting, 'a'), false)
      },
    ),
  'failurePolicy Ignore skips a webhook whose match condition fails to evaluate': fixture =>
    denied(
      fixture,
      {
        ...conditions("object.metadata.name.startsWith('probe') || object.data.absent == 'x'"),
        failurePolicy: 'Ignore',
      },
      async setting => {
        assert.equal(await isRejected(setting, 'a'), false)
      },
    ),
  'a namespace selector matches the labels of the namespace': fixture =>
    withHook(
      fixture,
      'Validating',
      deny,
      () => ({
        namespaceSelector: {
          matchLabels: { 'kubernetes.io/metadata.name': fixture.namespace },
          matchExpressions: [{ key: 'quiet', operator: 'NotIn', values: ['yes'] }],
        },
      }),
      async setting => {
        const { heard, http, namespace } = setting
        await heard()
        await http.mergePatch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { quiet: 'yes' } } })
        await setting.eventually(
          () => isRejected(setting, `q-${Math.random().toString(36).slice(2)}`),
          rejected => !rejected,
        )
      },
    ),
  'mutating webhooks run in the order of their configuration names': async fixture => {
    const { http, id, core, namespace } = fixture
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    const servers = await Promise.all(['1', '2', '3'].map(text => startHook(fixture, append(text))))
    const names = [`${id}-b`, `${id}-a`]
    const hook = (index: number, name: string) => ({
      name: `${name}.${id}.example.com`,
      clientConfig: {
        url: `https://127.0.0.1:${servers[index]!.port}/x`,
        caBundle: servers[index]!.caBundle,
      },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    })
    try {
      await http.post(path, { metadata: { name: names[0] }, webhooks: [hook(2, 'only')] })
      await http.post(path, { metadata: { name: names[1] }, webhooks: [hook(1, 'z'), hook(0, 'y')] })
      let attempt = 0
      const made = await fixture.eventually(
        () => http.post(core('configmaps'), configMap(`m-${attempt++}`)),
        response => servers.every(({ seen }) => seen.length > 0) && response.text('data.trace').length === 3,
      )
      assert.equal(made.at('data.trace'), '213')
    } finally {
      for (const name of names) await http.delete(`${path}/${name}`)
      for (const server of servers) await server.close()
    }
  },
  'a webhook that does not respond in time fails the request': fixture =>
    withHook(
      fixture,
      'Validating',
      () => new Promise(() => {}),
      () => ({ timeoutSeconds: 1 }),
      async ({ heard, hookName, hook }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 500)
        assert.equal(
          rejected.at('message'),
          `Internal error occurred: failed calling webhook "${hookName}": failed to call webhook: Post "https://127.0.0.1:${hook.port}/validate?timeout=1s": context deadline exceeded`,
        )
      },
    ),
  'failurePolicy Ignore skips a webhook that does not respond': fixture =>
    withHook(
      fixture,
      'Validating',
      () => new Promise(() => {}),
      () => ({ timeoutSeconds: 1, failurePolicy: 'Ignore' }),
      async ({ heard }) => {
        assert.equal((await heard()).status, 201)
      },
    ),
})
