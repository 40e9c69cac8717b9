// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scripted } from '../testing/simulated-server.ts'
import { things } from '../testing/things.ts'
import type { Client } from './client.ts'
import { createClientOn } from './create-client.ts'
import { defineResource } from './resource.ts'
import { bindPod, evictPod, getScale, requestToken, setScale } from './subresources.ts'

const nodes = defineResource({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const object = { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' }, kind: 'Thing' }
/** An object and a list at once. */
const okResponse = { status: 200, headers: {}, body: JSON.stringify({ ...object, items: [] }) }
const ref = { namespace: 'ns', name: 'a' }
const root = '/apis/example.com/v1/namespaces/ns/things'

describe('requests of each verb', () => {
  const rows: [
    what: string,
    act: (client: Client) => Promise<unknown>,
    wanted: { method: string; path: string; body?: unknown; type?: string },
  ][] = [
    ['get', c => c.get(things, ref), { method: 'GET', path: `${root}/a` }],
    [
      'get of a cluster-scoped object',
      c => c.get(nodes, { name: 'n' }),
      { method: 'GET', path: '/api/v1/nodes/n' },
    ],
    [
      'a page with selectors',
      c => c.page(things, { labelSelector: 'a in (b, c)', fieldSelector: 'metadata.name=x', limit: 7 }),
      {
        method: 'GET',
        path: '/apis/example.com/v1/things?labelSelector=a%20in%20(b%2C%20c)&fieldSelector=metadata.name%3Dx&limit=7',
      },
    ],
    [
      'create',
      c =>
        c.create(things, { metadata: { name: 'a', namespace: 'ns' } }, { fieldManager: 'me', dryRun: true }),
      {
        method: 'POST',
        path: `${root}?fieldManager=me&dryRun=All`,
        body: { metadata: { name: 'a', namespace: 'ns' }, apiVersion: 'example.com/v1', kind: 'Thing' },
        type: 'application/json',
      },
    ],
    [
      'update of the status',
      c => c.update(things, object, { subresource: 'status', fieldValidation: 'Strict' }),
      {
        method: 'PUT',
        path: `${root}/a/status?fieldValidation=Strict`,
        body: { ...object, apiVersion: 'example.com/v1' },
        type: 'application/json',
      },
    ],
    [
      'a merge patch',
      c => c.patch(things, ref, { merge: { spec: { size: 2 } } }),
      {
        method: 'PATCH',
        path: `${root}/a`,
        body: { spec: { size: 2 } },
        type: 'application/merge-patch+json',
      },
    ],
    [
      'a JSON patch',
      c => c.patch(things, ref, { json: [{ op: 'remove', path: '/spec' }] }),
      {
        method: 'PATCH',
        path: `${root}/a`,
        body: [{ op: 'remove', path: '/spec' }],
        type: 'application/json-patch+json',
      },
    ],
    [
      'a strategic merge patch',
      c => c.patch(things, ref, { strategic: { spec: {} } }),
      {
        method: 'PATCH',
        path: `${root}/a`,
        body: { spec: {} },
        type: 'application/strategic-merge-patch+json',
      },
    ],
    [
      'server-side apply',
      c => c.apply(things, { ...object, apiVersion: 'example.com/v1' }, { fieldManager: 'me', force: true }),
      {
        method: 'PATCH',
        path: `${root}/a?fieldManager=me&force=true`,
        body: { ...object, apiVersion: 'example.com/v1' },
        type: 'application/apply-patch+yaml',
      },
    ],
    ['a plain delete', c => c.delete(things, ref), { method: 'DELETE', path: `${root}/a` }],
    [
      'a delete with conditions',
      c =>
        c.delete(things, ref, {
          preconditions: { uid: 'u', resourceVersion: '1' },
          propagationPolicy: 'Foreground',
          gracePeriodSeconds: 0,
          dryRun: true,
        }),
      {
        method: 'DELETE',
        path: `${root}/a`,
        body: {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          preconditions: { uid: 'u', resourceVersion: '1' },
          propagationPolicy: 'Foreground',
          gracePeriodSeconds: 0,
          dryRun: ['All'],
        },
        type: 'application/json',
      },
    ],
    [
      'a delete by label',
      c => c.deleteCollection(things, { namespace: 'ns', labelSelector: 'a=b' }),
      { method: 'DELETE', path: `${root}?labelSelector=a%3Db` },
    ],
    ['the scale', c => getScale(c, things, ref), { method: 'GET', path: `${root}/a/scale` }],
    [
      'setting the scale',
      c => setScale(c, things, ref, 3),
      {
        method: 'PATCH',
        path: `${root}/a/scale`,
        body: { spec: { replicas: 3 } },
        type: 'application/merge-patch+json',
      },
    ],
    [
      'binding a pod',
      c => bindPod(c, ref, 'node-1', { uid: 'u' }),
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/pods/a/binding',
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a', namespace: 'ns', uid: 'u' },
          target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
        },
        type: 'application/json',
      },
    ],
    [
      'evicting a pod',
      c => evictPod(c, ref, { gracePeriodSeconds: 5 }),
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/pods/a/eviction',
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'a', namespace: 'ns' },
          deleteOptions: { gracePeriodSeconds: 5 },
        },
        type: 'application/json',
      },
    ],
    [
      'asking for a token',
      c => requestToken(c, ref, { audiences: ['x'], expirationSeconds: 600 }),
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/serviceaccounts/a/token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { audiences: ['x'], expirationSeconds: 600 },
        },
        type: 'application/json',
      },
    ],
  ]
  for (const [what, act, wanted] of rows)
    it(what, async () => {
      const transport = scripted(okResponse)
      await act(createClientOn(transport))
      const { method, path, body, headers } = transport.requests[0]!
      assert.deepEqual(
        { method, path, body: body && JSON.parse(body), type: headers['content-type'] },
        { body: undefined, type: undefined, ...wanted },
      )
      assert.equal(headers.accept, 'application/json')
    })

  it('rejects a namespaced object without namespace', async () => {
    const client = createClientOn(scripted(okResponse))
    await assert.rejects(client.get(things, { name: 'a' }), TypeError)
    await assert.rejects(client.create(things, { metadata: { name: 'a' } }), TypeError)
    await assert.rejects(client.delete(things, { name: '', namespace: 'ns' }), TypeError)
  })
})
