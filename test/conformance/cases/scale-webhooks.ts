// SPDX-License-Identifier: Apache-2.0

// Webhooks for the scale subresource get Scale objects, not the objects that are scaled.
import assert from 'node:assert/strict'
import { mapsRule, withHook } from '../hook-configuration.ts'
import type { Respond } from '../hook-server.ts'
import { defineWidgets, deployment, widget } from '../objects.ts'
import { chapter } from '../suite.ts'

const allow: Respond = () => ({ allowed: true })
const rulesFor = (apiGroup: string, resource: string) => () => ({
  rules: [
    mapsRule,
    {
      operations: ['UPDATE'],
      apiGroups: [apiGroup],
      apiVersions: ['v1'],
      resources: [resource, `${resource}/scale`],
    },
  ],
})
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** Members of a Scale in a review, without field managers. */
function shown(object: unknown): object {
  const { kind, apiVersion, metadata, spec, status } = object as Record<string, Record<string, unknown>>
  const { managedFields: _, ...rest } = metadata!
  return { kind, apiVersion, metadata: rest, spec, status }
}

export const scaleWebhooks = chapter('admission webhooks of the scale subresource', {
  'a webhook gets the Scale of a deployment before and after the request': fixture =>
    withHook(
      fixture,
      'Validating',
      allow,
      rulesFor('apps', 'deployments'),
      async ({ heard, hook, http, group }) => {
        await heard()
        await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
        const path = group('apps/v1', 'deployments/d')
        const before = await http.get(`${path}/scale`)
        assert.equal((await http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })).status, 200)
        const request = hook.seen.at(-1)!
        assert.deepEqual(request.kind, scaleKind)
        assert.deepEqual(request.requestKind, scaleKind)
        assert.deepEqual(request.resource, { group: 'apps', version: 'v1', resource: 'deployments' })
        assert.equal(request.subResource, 'scale')
        assert.equal(request.name, 'd')
        assert.deepEqual(shown(request.oldObject), shown(before.object()))
        assert.deepEqual(shown(request.object), { ...shown(before.object()), spec: { replicas: 5 } })
      },
    ),
  'a webhook gets the Scale of a custom resource': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w', { size: 1, replicas: 2 }))
    const [, , apiGroup = '', , , , resource = ''] = path.split('/')
    await withHook(
      fixture,
      'Validating',
      allow,
      rulesFor(apiGroup, resource),
      async ({ heard, hook, http }) => {
        await heard()
        const current = (await http.get(`${path}/w/scale`)).object()
        const updated = await http.put(`${path}/w/scale`, { ...current, spec: { replicas: 3 } })
        assert.equal(updated.status, 200)
        const request = hook.seen.at(-1)!
        assert.deepEqual(request.kind, scaleKind)
        assert.equal(request.subResource, 'scale')
        assert.deepEqual(shown(request.oldObject), shown(current))
        assert.deepEqual(shown(request.object), { ...shown(current), spec: { replicas: 3 } })
      },
    )
  },
  'a mutating webhook changes the replicas of the Scale': fixture =>
    withHook(
      fixture,
      'Mutating',
      ({ subResource }) =>
        subResource === 'scale'
          ? {
              allowed: true,
              patchType: 'JSONPatch',
              patch: Buffer.from(
                JSON.stringify([{ op: 'replace', path: '/spec/replicas', value: 7 }]),
              ).toString('base64'),
            }
          : { allowed: true },
      rulesFor('apps', 'deployments'),
      async ({ heard, http, group }) => {
        await heard()
        await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
        const path = group('apps/v1', 'deployments/d')
        const patched = await http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })
        assert.equal(patched.status, 200, patched.raw)
        assert.equal(patched.at('spec.replicas'), 7)
        const stored = await http.get(path)
        assert.equal(stored.at('spec.replicas'), 7)
        assert.equal(stored.at('spec.template.spec.containers.0.name'), 'main')
      },
    ),
  'a mutating webhook cannot change other fields of the object': fixture =>
    withHook(
      fixture,
      'Mutating',
      ({ subResource }) =>
        subResource === 'scale'
          ? {
              allowed: true,
              patchType: 'JSONPatch',
              patch: Buffer.from(
                JSON.stringify([{ op: 'add', path: '/metadata/labels', value: { added: 'yes' } }]),
              ).toString('base64'),
            }
          : { allowed: true },
      rulesFor('apps', 'deployments'),
      async ({ heard, http, group }) => {
        await heard()
        await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
        const path = group('apps/v1', 'deployments/d')
        const patched = await http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })
        assert.equal(patched.status, 200, patched.raw)
        const stored = await http.get(path)
        assert.equal(stored.at('metadata.labels'), undefined)
        assert.equal(stored.at('spec.replicas'), 5)
      },
    ),
  'an objectSelector does not match the Scale of an object with labels': fixture =>
    withHook(
      fixture,
      'Validating',
      ({ subResource }) => ({ allowed: subResource !== 'scale' }),
      server => ({
        ...rulesFor('apps', 'deployments')(),
        objectSelector: { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
        clientConfig: { url: `https://127.0.0.1:${server.port}/validate`, caBundle: server.caBundle },
      }),
      async ({ http, group, hook, eventually }) => {
        const path = group('apps/v1', 'deployments/d')
        await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
        let value = 0
        // A real server observes a new configuration with a delay.
        await eventually(
          () => http.mergePatch(path, { metadata: { labels: { tier: `t${value++}` } } }),
          () => hook.seen.length > 0,
        )
        assert.equal((await http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })).status, 200)
      },
    ),
})
