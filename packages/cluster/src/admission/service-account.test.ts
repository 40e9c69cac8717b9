// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '@grove/kube'
import { createCluster } from '../cluster.ts'
import type { Pod } from '../schema/types.generated.ts'

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

function setUp() {
  const clock = new FakeClock()
  const cluster = createCluster({ serviceAccountAdmission: true, seed: 1, clock })
  const post = async (resource: string, object: object) => {
    const { status, body = '' } = await cluster.handle({
      method: 'POST',
      path: `/api/v1/namespaces/default/${resource}`,
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify(object),
      user: { name: 'test', groups: [] },
    })
    return { status, object: JSON.parse(body) as Pod & { message?: string } }
  }
  const account = (name: string, more: object = {}) =>
    post('serviceaccounts', { metadata: { name }, ...more })
  const pod = (spec: object = {}) =>
    post('pods', {
      metadata: { name: 'a' },
      spec: {
        containers: [{ name: 'main', image: 'a' }],
        initContainers: [{ name: 'i', image: 'b' }],
        ...spec,
      },
    })
  return { account, pod, clock }
}

describe('service accounts of pods', () => {
  it('a pod uses the default service account, and its token is mounted into every container', async () => {
    const { account, pod } = setUp()
    await account('default')
    const { status, object } = await pod()
    assert.equal(status, 201)
    assert.equal(object.spec?.serviceAccountName, 'default')
    assert.equal(object.spec?.serviceAccount, 'default')
    const [volume] = object.spec?.volumes ?? []
    assert.match(volume?.name ?? '', /^kube-api-access-\w{5}$/)
    assert.equal(volume?.projected?.sources?.[0]?.serviceAccountToken?.expirationSeconds, 3607)
    for (const container of [...object.spec!.containers!, ...object.spec!.initContainers!])
      assert.deepEqual(container.volumeMounts, [{ name: volume?.name, readOnly: true, mountPath }])
  })

  const unwanted = [
    ['the service account', { automountServiceAccountToken: false }, {}],
    ['the pod', {}, { automountServiceAccountToken: false }],
  ] as const
  for (const [who, ofAccount, ofPod] of unwanted)
    it(`no token is mounted if ${who} disables it`, async () => {
      const { account, pod } = setUp()
      await account('default', ofAccount)
      assert.equal((await pod(ofPod)).object.spec?.volumes, undefined)
    })

  it('a pod keeps its own mount at the token path, and gets the pull secrets of the account if it has none', async () => {
    const { account, pod } = setUp()
    await account('robot', { imagePullSecrets: [{ name: 'pull' }] })
    const own = [{ name: 'own', mountPath }]
    const { object } = await pod({
      serviceAccountName: 'robot',
      initContainers: [],
      containers: [{ name: 'main', image: 'a', volumeMounts: own }],
      volumes: [{ name: 'own', emptyDir: {} }],
    })
    assert.deepEqual(object.spec?.containers?.[0]?.volumeMounts, own)
    assert.equal(object.spec?.volumes?.length, 1)
    assert.deepEqual(object.spec?.imagePullSecrets, [{ name: 'pull' }])
  })

  it('a named service account that does not exist is an immediate error', async () => {
    const { pod } = setUp()
    const { status, object } = await pod({ serviceAccountName: 'missing' })
    assert.equal(status, 403)
    assert.equal(
      object.message,
      'pods "a" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found',
    )
  })

  it('waits for the default service account of a new namespace', async () => {
    const { account, pod, clock } = setUp()
    const waiting = pod()
    await clock.advance(150)
    await account('default')
    await clock.advance(100)
    assert.equal((await waiting).status, 201)
  })
})
