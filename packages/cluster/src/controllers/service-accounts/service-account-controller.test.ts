// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { secrets, serviceAccounts } from '../kinds.ts'
import { completed, startTestCluster } from '../testing/test-cluster.ts'

const type = 'kubernetes.io/service-account-token'
const annotations = { 'kubernetes.io/service-account.name': 'robot' }
const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString()

describe('a Secret for a service account token', () => {
  it('is filled, and deleted with the service account', async () => {
    const issue = async (account: { metadata: { name: string } }) => `token of ${account.metadata.name}`
    await using cluster = await startTestCluster({
      serviceAccounts: { tokenIssuer: { issue }, caCertificate: 'PEM' },
    })
    const { clock, client } = cluster
    const robot = await completed(
      clock,
      client.create(serviceAccounts, { metadata: { namespace: 'default', name: 'robot' } }),
    )
    const ref = { namespace: 'default', name: 'robot-token' }
    await completed(clock, client.create(secrets, { metadata: { ...ref, annotations }, type }))
    await clock.advance(100)
    const secret = await completed(clock, client.get(secrets, ref))
    assert.equal(decoded(secret.data?.token), 'token of robot')
    assert.equal(decoded(secret.data?.['ca.crt']), 'PEM')
    assert.equal(decoded(secret.data?.namespace), 'default')
    assert.equal(secret.metadata.annotations?.['kubernetes.io/service-account.uid'], robot.metadata.uid)
    await completed(clock, client.delete(serviceAccounts, robot.metadata))
    await clock.advance(100)
    assert.equal(await completed(clock, client.find(secrets, ref)), undefined)
  })

  it('is deleted if the service account does not exist', async () => {
    await using cluster = await startTestCluster()
    const { clock, client } = cluster
    const ref = { namespace: 'default', name: 'orphan' }
    await completed(clock, client.create(secrets, { metadata: { ...ref, annotations }, type }))
    await clock.advance(100)
    assert.equal(await completed(clock, client.find(secrets, ref)), undefined)
  })
})
