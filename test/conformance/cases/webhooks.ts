// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mapsRule, withHook } from '../hook-configuration.ts'
import { type Respond, startHook } from '../hook-server.ts'
import { configMap, deployment } from '../objects.ts'
import { chapter } from '../suite.ts'

const allow: Respond = () => ({ allowed: true })
const patch = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})
const plain = () => ({})

export const webhooks = chapter('admission webhooks', {
  'a webhook can reject a request': fixture =>
    withHook(
      fixture,
      'Validating',
      () => ({ allowed: false, status: { message: 'not today', code: 403, reason: 'Forbidden' } }),
      plain,
      async ({ heard, hookName, http, core }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 403)
        assert.equal(rejected.at('reason'), 'Forbidden')
        assert.equal(rejected.at('message'), `admission webhook "${hookName}" denied the request: not today`)
        assert.equal((await http.get(core('configmaps/a'))).status, 404)
      },
    ),
  'a rejection needs no reason': fixture =>
    withHook(
      fixture,
      'Validating',
      () => ({ allowed: false }),
      plain,
      async ({ heard, hookName }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 400)
        assert.equal(
          rejected.at('message'),
          `admission webhook "${hookName}" denied the request without explanation`,
        )
      },
    ),
  'a webhook gets the request': fixture =>
    withHook(fixture, 'Validating', allow, plain, async ({ heard, hook, namespace }) => {
      const made = await heard()
      assert.equal(made.status, 201)
      const request = hook.seen[0]!
      assert.equal(request.operation, 'CREATE')
      assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'ConfigMap' })
      assert.deepEqual(request.resource, { group: '', version: 'v1', resource: 'configmaps' })
      assert.deepEqual(request.requestKind, request.kind)
      assert.equal(request.name, made.at('metadata.name'))
      assert.equal(request.namespace, namespace)
      assert.equal(request.dryRun, false)
      assert.equal(request.oldObject, null)
      assert.deepEqual(request.object?.data, { key: 'value' })
      assert.equal(request.object?.kind, 'ConfigMap')
      assert.equal(typeof request.object?.metadata.uid, 'string')
      assert.ok((request.userInfo as { groups: string[] }).groups.includes('system:authenticated'))
    }),
  'a webhook gets updates and deletions with the old object': fixture =>
    withHook(fixture, 'Validating', allow, plain, async ({ heard, hook, http, core }) => {
      const made = await heard()
      const path = core(`configmaps/${made.text('metadata.name')}`)
      await http.mergePatch(path, { data: { key: 'other' } })
      await http.delete(path)
      const [update, deletion] = hook.seen.slice(-2)
      assert.equal(update?.operation, 'UPDATE')
      assert.deepEqual(update?.oldObject?.data, { key: 'value' })
      assert.deepEqual(update?.object?.data, { key: 'other' })
      assert.equal(deletion?.operation, 'DELETE')
      assert.equal(deletion?.object, null)
      assert.deepEqual(deletion?.oldObject?.data, { key: 'other' })
    }),
  'a mutating webhook changes a created object': fixture =>
    withHook(
      fixture,
      'Mutating',
      () => patch({ op: 'add', path: '/data/added', value: 'yes' }),
      plain,
      async ({ heard, http, core }) => {
        const made = await heard()
        assert.equal(made.status, 201)
        assert.deepEqual(made.at('data'), { key: 'value', added: 'yes' })
        const stored = await http.get(core(`configmaps/${made.text('metadata.name')}`))
        assert.deepEqual(stored.at('data'), { key: 'value', added: 'yes' })
      },
    ),
  'validates the object after mutation': fixture =>
    withHook(
      fixture,
      'Mutating',
      () => patch({ op: 'add', path: '/data/not a key', value: 'yes' }),
      plain,
      async ({ heard }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 422)
        assert.match(rejected.text('message'), /data\[not a key\]: Invalid value/)
      },
    ),
  'a patch that cannot be applied is an internal error': fixture =>
    withHook(
      fixture,
      'Mutating',
      () => patch({ op: 'remove', path: '/data/absent' }),
      plain,
      async ({ heard }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 500)
        assert.equal(rejected.at('reason'), 'InternalError')
      },
    ),
  'rejects a patch of a validating webhook': fixture =>
    withHook(
      fixture,
      'Validating',
      () => patch({ op: 'remove', path: '/data' }),
      plain,
      async ({ heard, hookName }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 500)
        assert.equal(
          rejected.at('message'),
          `Internal error occurred: failed calling webhook "${hookName}": received invalid webhook response: validating webhook may not return response.patch`,
        )
      },
    ),
  'returns the warnings of a webhook to the client': fixture =>
    withHook(
      fixture,
      'Validating',
      () => ({ allowed: true, warnings: ['mind the gap'] }),
      plain,
      async ({ heard }) => {
        assert.match(String((await heard()).headers.warning), /299 - "mind the gap"/)
      },
    ),
  'a webhook that cannot be reached fails the request': fixture =>
    withHook(
      fixture,
      'Validating',
      allow,
      ({ caBundle }) => ({ clientConfig: { url: 'https://127.0.0.1:1/validate', caBundle } }),
      async ({ heard, hookName }) => {
        const rejected = await heard()
        assert.equal(rejected.status, 500)
        assert.equal(
          rejected.at('message'),
          `Internal error occurred: failed calling webhook "${hookName}": failed to call webhook: Post "https://127.0.0.1:1/validate?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused`,
        )
      },
    ),
  'does not trust a webhook with a certificate of another CA': async fixture => {
    const stranger = await startHook(fixture, allow)
    try {
      await withHook(
        fixture,
        'Validating',
        allow,
        () => ({
          // No CA bundle, so that only the CAs of the system are trusted.
          clientConfig: { url: `https://127.0.0.1:${stranger.port}/validate` },
        }),
        async ({ heard, hookName }) => {
          assert.equal(
            (await heard()).at('message'),
            `Internal error occurred: failed calling webhook "${hookName}": failed to call webhook: Post "https://127.0.0.1:${stranger.port}/validate?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
          )
        },
      )
    } finally {
      await stranger.close()
    }
  },
  'calls a webhook through a Service with an external name': fixture =>
    withHook(
      fixture,
      'Validating',
      () => ({ allowed: false, status: { message: 'seen' } }),
      ({ port, caBundle }) => ({
        clientConfig: {
          service: { namespace: fixture.namespace, name: 'hook', path: '/validate', port },
          caBundle,
        },
      }),
      async ({ http, core, hook, hookName, heard }) => {
        const lost = await heard()
        assert.equal(
          lost.at('message'),
          `Internal error occurred: failed calling webhook "${hookName}": failed to call webhook: Post "https://hook.${fixture.namespace}.svc:${hook.port}/validate?timeout=5s": service "hook" not found`,
        )
        await http.post(core('services'), {
          metadata: { name: 'hook' },
          spec: { type: 'ExternalName', externalName: 'localhost' },
        })
        const rejected = await fixture.eventually(
          () => http.post(core('configmaps'), configMap('a')),
          response => response.status === 400,
        )
        assert.equal(rejected.at('message'), `admission webhook "${hookName}" denied the request: seen`)
      },
    ),
  'calls a webhook without side effects in dry runs': fixture =>
    withHook(
      fixture,
      'Validating',
      () => ({ allowed: false, status: { message: 'seen' } }),
      () => ({ sideEffects: 'NoneOnDryRun' }),
      async ({ heard, hook, http, core }) => {
        await heard()
        const rejected = await http.post(core('configmaps'), configMap('a'), { query: { dryRun: 'All' } })
        assert.equal(rejected.status, 400)
        assert.equal(hook.seen.at(-1)?.dryRun, true)
      },
    ),
  'an object selector matches the labels of the object': fixture =>
    withHook(
      fixture,
      'Validating',
      ({ object }) => ({ allowed: object?.metadata.name !== 'bad' }),
      () => ({ objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] } }),
      async ({ heard, http, core }) => {
        await heard()
        const skipped = configMap('bad', {}, { labels: { skip: 'yes' } })
        assert.equal((await http.post(core('configmaps'), skipped)).status, 201)
        await http.delete(core('configmaps/bad'))
        assert.equal((await http.post(core('configmaps'), configMap('bad'))).status, 400)
      },
    ),
  'rules match operations and subresources': fixture =>
    withHook(
      fixture,
      'Validating',
      ({ resource, subResource }) => ({
        allowed: (resource as { resource: string }).resource === 'configmaps',
        status: { message: `${String(subResource)}` },
      }),
      () => ({
        rules: [
          { ...mapsRule, operations: ['CREATE'] },
          {
            operations: ['UPDATE'],
            apiGroups: ['apps'],
            apiVersions: ['*'],
            resources: ['deployments/status'],
            scope: 'Namespaced',
          },
        ],
      }),
      async ({ heard, hook, http, core, group: path, hookName }) => {
        const made = await heard()
        const count = hook.seen.length
        await http.mergePatch(core(`configmaps/${made.text('metadata.name')}`), { data: { a: 'b' } })
        const deployments = path('apps/v1', 'deployments')
        await http.post(deployments, deployment('d'))
        await http.mergePatch(`${deployments}/d`, { spec: { replicas: 1 } })
        assert.equal(hook.seen.length, count)
        const rejected = await http.mergePatch(`${deployments}/d/status`, { status: { replicas: 1 } })
        assert.equal(rejected.at('message'), `admission webhook "${hookName}" denied the request: status`)
      },
    ),
  'failurePolicy Ignore skips a webhook that cannot be reached': fixture =>
    withHook(
      fixture,
      'Mutating',
      () => ({ allowed: true, patchType: 'JSONPatch' }),
      () => ({ failurePolicy: 'Ignore' }),
      async ({ heard }) => {
        assert.equal((await heard()).status, 201)
      },
    ),
})
