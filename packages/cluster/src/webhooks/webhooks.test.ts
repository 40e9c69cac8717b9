// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Cluster, createCluster } from '../cluster.ts'
import { type ClusterCertificates, makeCertificates } from '../front/certificates.ts'
import { adminUser } from '../front/in-process.ts'
import type { KubeObject } from '../object.ts'

type Respond = (path: string, request: { uid: string; object: KubeObject; [key: string]: unknown }) => object

describe('admission webhooks', () => {
  let certificates: ClusterCertificates
  let server: Server
  let respond: Respond
  let connections = 0
  let calls: string[]
  let cluster: Cluster

  before(async () => {
    certificates = makeCertificates(Date.now(), ['127.0.0.1'])
    server = createServer(certificates.server, async (incoming, outgoing) => {
      let text = ''
      for await (const chunk of incoming.setEncoding('utf8')) text += chunk
      const { request } = JSON.parse(text)
      const path = incoming.url!.split('?')[0]!
      calls.push(path)
      const response = { uid: request.uid, ...respond(path, request) }
      outgoing.end(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response }))
    })
    server.on('secureConnection', () => connections++)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    cluster.stop()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    cluster?.stop()
    cluster = createCluster()
    calls = []
    connections = 0
    respond = () => ({ allowed: true })
  })

  async function send(
    method: string,
    path: string,
    body?: unknown,
    query = '',
  ): Promise<[number, KubeObject]> {
    const response = await cluster.handle({
      method,
      path,
      query: new URLSearchParams(query),
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      user: adminUser,
    })
    return [response.status, JSON.parse(response.body!) as KubeObject]
  }

  const hook = (path: string, more: object = {}) => ({
    name: `${path}.example.com`,
    clientConfig: {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`,
      caBundle: Buffer.from(certificates.authority).toString('base64'),
    },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['v1'], resources: ['*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  })
  const configure = (kind: 'Mutating' | 'Validating', ...webhooks: object[]) =>
    send('POST', `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: kind.toLowerCase() },
      webhooks,
    })
  const maps = '/api/v1/namespaces/default/configmaps'
  const map = (name: string) => ({ metadata: { name }, data: {} })

  it('are called in order, and again if their reinvocation policy asks for it and the object changed', async () => {
    respond = (path, { object }) => {
      const value = `${(object.data as Record<string, string> | undefined)?.trace ?? ''}${path}`
      const operations = [{ op: 'add', path: '/data', value: { trace: value } }]
      return {
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
      }
    }
    await configure('Mutating', hook('a', { reinvocationPolicy: 'IfNeeded' }), hook('b'))
    const [status, made] = await send('POST', maps, map('m'))
    assert.equal(status, 201)
    assert.deepEqual(made.data, { trace: '/a/b/a' })
  })

  it('share a connection', async () => {
    await configure('Validating', hook('a'))
    for (let i = 0; i < 5; i++) await send('POST', maps, map(`m${i}`))
    assert.equal(calls.length, 5)
    assert.equal(connections, 1)
  })

  it('are not called for webhook configurations', async () => {
    respond = () => ({ allowed: false })
    await configure('Validating', hook('a'))
    assert.equal((await configure('Mutating'))[0], 201)
    const [status] = await send(
      'DELETE',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/validating',
    )
    assert.equal(status, 200)
    assert.equal((await send('POST', maps, map('m')))[0], 201)
  })

  it('can reject deletions even if they are mutating', async () => {
    await configure('Mutating', hook('a'))
    await send('POST', maps, map('m'))
    respond = () => ({ allowed: false, status: { message: 'it stays' } })
    const [status, rejected] = await send('DELETE', `${maps}/m`)
    assert.equal(status, 400)
    assert.equal(rejected.message, 'admission webhook "a.example.com" denied the request: it stays')
  })

  it('with side effects are rejected in dry runs', async () => {
    const [status] = await configure('Validating', hook('a', { sideEffects: 'Some' }))
    assert.equal(status, 422)
  })

  it('must respond to the request that they received', async () => {
    respond = () => ({ uid: 'other', allowed: true })
    await configure('Validating', hook('a'))
    const [status, rejected] = await send('POST', maps, map('m'))
    assert.equal(status, 500)
    assert.match(
      String(rejected.message),
      /^Internal error occurred: failed calling webhook "a\.example\.com": received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"$/,
    )
  })

  it('receive objects in the version of their rules', async () => {
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [version('v1', true), version('v2', false)],
      },
    })
    const seen: unknown[] = []
    respond = (_path, { kind, requestKind, object }) => {
      seen.push([kind, requestKind, object.apiVersion])
      return { allowed: true }
    }
    const rules = [
      { operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['widgets'] },
    ]
    await configure('Validating', hook('a', { rules }), hook('b', { rules, matchPolicy: 'Exact' }))
    const widget = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' } }
    assert.equal((await send('POST', '/apis/example.com/v2/widgets', widget))[0], 201)
    const kindIn = (name: string) => ({ group: 'example.com', version: name, kind: 'Widget' })
    assert.deepEqual(seen, [[kindIn('v1'), kindIn('v2'), 'example.com/v1']])
  })
})
