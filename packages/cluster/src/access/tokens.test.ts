// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '@grove/kube'
import { createCluster } from '../cluster.ts'
import { adminUser } from '../front/in-process.ts'
import type { KubeObject } from '../object.ts'
import { MemoryStore } from '../store/index.ts'

const hour = 3_600_000

async function clusterWithRobot() {
  const clock = new FakeClock()
  const store = new MemoryStore()
  const cluster = createCluster({ clock, store, authorization: 'rbac', seed: 1 })
  const send = (method: string, path: string, body?: unknown) =>
    cluster.handle({
      method,
      path,
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      user: adminUser,
    })
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const create = async () =>
    JSON.parse((await send('POST', accounts, { metadata: { name: 'robot' } })).body!) as KubeObject
  return { clock, store, cluster, send, accounts, create, robot: await create() }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('service account tokens', () => {
  it('are valid until they expire', async () => {
    const { clock, cluster, robot } = await clusterWithRobot()
    const token = await cluster.tokens.issueBound(robot, {
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
    })
    const user = await cluster.authenticate(bearer(token))
    assert.equal(user?.name, 'system:serviceaccount:default:robot')
    assert.equal(user?.uid, robot.metadata.uid)
    await clock.advance(hour - 1000)
    assert.ok(await cluster.authenticate(bearer(token)))
    await clock.advance(1000)
    assert.equal(await cluster.authenticate(bearer(token)), undefined)
    assert.deepEqual(await cluster.tokens.verify(token), {
      ok: false,
      error: 'service account token has expired',
    })
  })

  it('are not valid for a recreated service account of the same name', async () => {
    const { cluster, robot, send, accounts, create } = await clusterWithRobot()
    const token = await cluster.tokens.issueBound(robot, {
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
    })
    await send('DELETE', `${accounts}/robot`)
    assert.equal(await cluster.authenticate(bearer(token)), undefined)
    await create()
    assert.equal(await cluster.authenticate(bearer(token)), undefined)
  })

  it('without expiration are valid while their Secret contains them', async () => {
    const { clock, cluster, robot, send } = await clusterWithRobot()
    const metadata = { namespace: 'default', name: 'robot-token' }
    const token = await cluster.tokens.issue(robot, { metadata })
    assert.equal(await cluster.authenticate(bearer(token)), undefined)
    const data = { token: Buffer.from(token).toString('base64') }
    await send('POST', '/api/v1/namespaces/default/secrets', { metadata, data })
    await clock.advance(1000 * hour)
    assert.equal((await cluster.authenticate(bearer(token)))?.name, 'system:serviceaccount:default:robot')
    await send('DELETE', '/api/v1/namespaces/default/secrets/robot-token')
    assert.equal(await cluster.authenticate(bearer(token)), undefined)
  })

  it('stay valid after a restart if the store is persistent', async () => {
    const { clock, store, cluster, robot } = await clusterWithRobot()
    const token = await cluster.tokens.issueBound(robot, {
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
    })
    const next = createCluster({ clock, store })
    assert.ok(await next.authenticate(bearer(token)))
    const stranger = createCluster({ clock })
    assert.equal(await stranger.authenticate(bearer(token)), undefined)
  })

  it('are only accepted as bearer tokens', async () => {
    const { cluster } = await clusterWithRobot()
    for (const authorization of [undefined, '', 'Bearer', 'Basic abc', 'Bearer a b', 'Bearer a.b.c'])
      assert.equal(await cluster.authenticate({ authorization }), undefined)
  })

  it('cannot choose the signature algorithm', async () => {
    const { cluster, robot } = await clusterWithRobot()
    const token = await cluster.tokens.issueBound(robot, {
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
    })
    const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
    assert.equal(
      await cluster.authenticate(bearer(`${header}.${token.split('.')[1]}.${token.split('.')[2]}`)),
      undefined,
    )
  })
})
