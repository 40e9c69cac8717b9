// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Response } from '../http.ts'
import { pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })

/** Creates a service account and a token for it. */
async function robotToken({ http, core }: Fixture, spec: object = {}): Promise<Response> {
  await http.post(core('serviceaccounts'), account('robot'))
  return http.post(core('serviceaccounts/robot/token'), { spec })
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

const review = ({ http }: Fixture, token: string, audiences?: string[]) =>
  http.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token, ...(audiences && { audiences }) },
  })

export const tokens = chapter('tokens', {
  'creates a token of a service account': async fixture => {
    const made = await robotToken(fixture)
    assert.equal(made.status, 201)
    assert.equal(made.at('kind'), 'TokenRequest')
    assert.equal(made.at('metadata.name'), 'robot')
    assert.equal(made.at('spec.expirationSeconds'), 3600)
    const claims = claimsOf(made.text('status.token'))
    assert.equal(claims.sub, `system:serviceaccount:${fixture.namespace}:robot`)
    assert.deepEqual(claims.aud, made.at('spec.audiences'))
    const left = Date.parse(made.text('status.expirationTimestamp')) - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_601_000, String(left))
  },
  'a token review returns the user of a token': async fixture => {
    const made = await robotToken(fixture)
    const { namespace } = fixture
    const response = await review(fixture, made.text('status.token'))
    assert.equal(response.status, 201)
    assert.equal(response.at('status.authenticated'), true)
    assert.equal(response.at('status.user.username'), `system:serviceaccount:${namespace}:robot`)
    assert.equal(response.at('status.user.uid'), made.at('metadata.uid'))
    assert.deepEqual(response.at('status.user.groups'), [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ])
    const id = claimsOf(made.text('status.token')).jti
    assert.deepEqual(response.at('status.user.extra'), {
      'authentication.kubernetes.io/credential-id': [`JTI=${String(id)}`],
    })
    assert.deepEqual(response.at('status.audiences'), made.at('spec.audiences'))
  },
  'rejects a token that was modified': async fixture => {
    const token = (await robotToken(fixture)).text('status.token')
    const [header, , signature] = token.split('.')
    const claims = { ...claimsOf(token), sub: 'system:serviceaccount:kube-system:root' }
    const forged = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    for (const bad of [forged, 'nonsense', `${token}x`]) {
      const response = await review(fixture, bad)
      assert.equal(response.status, 201)
      assert.notEqual(response.at('status.authenticated'), true)
      assert.match(response.text('status.error'), /invalid bearer token/)
    }
  },
  'a token is valid for its audience only': async fixture => {
    const token = (await robotToken(fixture, { audiences: ['vault'] })).text('status.token')
    assert.deepEqual(claimsOf(token).aud, ['vault'])
    assert.notEqual((await review(fixture, token)).at('status.authenticated'), true)
    const response = await review(fixture, token, ['other', 'vault'])
    assert.equal(response.at('status.authenticated'), true)
    assert.deepEqual(response.at('status.audiences'), ['vault'])
  },
  'the shortest lifetime of a token is ten minutes': async fixture => {
    const rejected = await robotToken(fixture, { expirationSeconds: 599 })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    )
  },
  'returns 404 for a token of an account that does not exist': async ({ http, core }) => {
    const rejected = await http.post(core('serviceaccounts/absent/token'), { spec: {} })
    assert.equal(rejected.status, 404)
    assert.equal(rejected.at('message'), 'serviceaccounts "absent" not found')
  },
  'a token is invalid after its account is deleted': async fixture => {
    const token = (await robotToken(fixture)).text('status.token')
    await fixture.http.delete(fixture.core('serviceaccounts/robot'))
    await fixture.http.post(fixture.core('serviceaccounts'), account('robot'))
    await fixture.eventually(
      () => review(fixture, token),
      response => response.at('status.authenticated') !== true,
    )
  },
  'a token that is bound to a pod is invalid after the pod is deleted': async fixture => {
    const { http, core } = fixture
    await http.post(core('serviceaccounts'), account('robot'))
    await http.post(core('pods'), pod('p', { serviceAccountName: 'robot' }))
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' }
    const ask = () => http.post(core('serviceaccounts/robot/token'), { spec: { boundObjectRef } })
    const made = await ask()
    assert.equal(made.status, 201)
    const response = await review(fixture, made.text('status.token'))
    const extra = response.at('status.user.extra') as Record<string, string[]>
    assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['p'])
    // Uses another token, because a server may cache the result of a review.
    const unseen = (await ask()).text('status.token')
    await http.delete(core('pods/p'), { gracePeriodSeconds: 0 })
    await fixture.eventually(
      () => review(fixture, unseen),
      later => later.at('status.authenticated') !== true,
    )
  },
  'rejects a token that is bound to a pod of another account': async fixture => {
    const { http, core } = fixture
    await http.post(core('serviceaccounts'), account('robot'))
    await http.post(core('pods'), pod('p', { serviceAccountName: 'other' }))
    const ask = (boundObjectRef: object) =>
      http.post(core('serviceaccounts/robot/token'), { spec: { boundObjectRef } })
    assert.equal(
      (await ask({ kind: 'Pod', apiVersion: 'v1', name: 'p' })).at('message'),
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    )
    assert.equal(
      (await ask({ kind: 'ConfigMap', apiVersion: 'v1', name: 'p' })).at('message'),
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    )
    assert.equal((await ask({ kind: 'Secret', apiVersion: 'v1', name: 's' })).status, 404)
  },
  'a client with the token acts as the account': async fixture => {
    const token = (await robotToken(fixture)).text('status.token')
    const bearer = fixture.http.bearer(token)
    try {
      const response = await bearer.get(fixture.core('pods'))
      assert.equal(response.status, 403)
      assert.equal(
        response.at('message'),
        `pods is forbidden: User "system:serviceaccount:${fixture.namespace}:robot" cannot list resource "pods" in API group "" in the namespace "${fixture.namespace}"`,
      )
      assert.equal((await bearer.get('/api')).status, 200)
    } finally {
      bearer.close()
    }
  },
  'rejects impersonation by an account without that right': async fixture => {
    const token = (await robotToken(fixture)).text('status.token')
    const bearer = fixture.http.bearer(token)
    try {
      const rejected = await bearer.get('/api', { headers: { 'impersonate-user': 'alice' } })
      assert.equal(rejected.status, 403)
      const who = `User "system:serviceaccount:${fixture.namespace}:robot"`
      assert.equal(
        rejected.at('message'),
        `forbidden: ${who} cannot impersonate-on:user-info:get path "/api"`,
      )
      const ofAccount = { headers: { 'impersonate-user': 'system:serviceaccount:default:other' } }
      assert.equal(
        (await bearer.get('/api/v1/nodes/n', ofAccount)).at('message'),
        `nodes "n" is forbidden: ${who} cannot impersonate-on:serviceaccount:get resource "nodes" in API group "" at the cluster scope`,
      )
    } finally {
      bearer.close()
    }
  },
  'rejects an invalid token for every request': async ({ http }) => {
    const bearer = http.bearer('nonsense')
    try {
      const rejected = await bearer.get('/version')
      assert.equal(rejected.status, 401)
      assert.equal(rejected.at('reason'), 'Unauthorized')
      assert.equal(rejected.at('message'), 'Unauthorized')
    } finally {
      bearer.close()
    }
  },
  'a review requires a token': async fixture => {
    assert.equal((await review(fixture, '')).status, 400)
  },
})
