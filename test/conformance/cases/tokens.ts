// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Answer } from '../http.ts'
import { pod } from '../objects.ts'
import { chapter, type Ground } from '../suite.ts'

const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })

/** A service account and a token for it. */
async function robotToken({ http, core }: Ground, spec: object = {}): Promise<Answer> {
  await http.post(core('serviceaccounts'), account('robot'))
  return http.post(core('serviceaccounts/robot/token'), { spec })
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

const review = ({ http }: Ground, token: string, audiences?: string[]) =>
  http.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token, ...(audiences && { audiences }) },
  })

export const tokens = chapter('tokens', {
  'a service account has tokens': async ground => {
    const made = await robotToken(ground)
    assert.equal(made.status, 201)
    assert.equal(made.at('kind'), 'TokenRequest')
    assert.equal(made.at('metadata.name'), 'robot')
    assert.equal(made.at('spec.expirationSeconds'), 3600)
    const claims = claimsOf(made.text('status.token'))
    assert.equal(claims.sub, `system:serviceaccount:${ground.namespace}:robot`)
    assert.deepEqual(claims.aud, made.at('spec.audiences'))
    const left = Date.parse(made.text('status.expirationTimestamp')) - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_601_000, String(left))
  },
  'a token says who bears it': async ground => {
    const made = await robotToken(ground)
    const { namespace } = ground
    const answer = await review(ground, made.text('status.token'))
    assert.equal(answer.status, 201)
    assert.equal(answer.at('status.authenticated'), true)
    assert.equal(answer.at('status.user.username'), `system:serviceaccount:${namespace}:robot`)
    assert.equal(answer.at('status.user.uid'), made.at('metadata.uid'))
    assert.deepEqual(answer.at('status.user.groups'), [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ])
    const id = claimsOf(made.text('status.token')).jti
    assert.deepEqual(answer.at('status.user.extra'), {
      'authentication.kubernetes.io/credential-id': [`JTI=${String(id)}`],
    })
    assert.deepEqual(answer.at('status.audiences'), made.at('spec.audiences'))
  },
  'a token that was tampered with is nobody’s': async ground => {
    const token = (await robotToken(ground)).text('status.token')
    const [header, , signature] = token.split('.')
    const claims = { ...claimsOf(token), sub: 'system:serviceaccount:kube-system:root' }
    const forged = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    for (const bad of [forged, 'nonsense', `${token}x`]) {
      const answer = await review(ground, bad)
      assert.equal(answer.status, 201)
      assert.notEqual(answer.at('status.authenticated'), true)
      assert.match(answer.text('status.error'), /invalid bearer token/)
    }
  },
  'a token is for its audience': async ground => {
    const token = (await robotToken(ground, { audiences: ['vault'] })).text('status.token')
    assert.deepEqual(claimsOf(token).aud, ['vault'])
    assert.notEqual((await review(ground, token)).at('status.authenticated'), true)
    const answer = await review(ground, token, ['other', 'vault'])
    assert.equal(answer.at('status.authenticated'), true)
    assert.deepEqual(answer.at('status.audiences'), ['vault'])
  },
  'a token lives for ten minutes at least': async ground => {
    const refused = await robotToken(ground, { expirationSeconds: 599 })
    assert.equal(refused.status, 422)
    assert.equal(
      refused.at('message'),
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    )
  },
  'nobody has the token of an account that is not there': async ({ http, core }) => {
    const refused = await http.post(core('serviceaccounts/absent/token'), { spec: {} })
    assert.equal(refused.status, 404)
    assert.equal(refused.at('message'), 'serviceaccounts "absent" not found')
  },
  'a token ends with its account': async ground => {
    const token = (await robotToken(ground)).text('status.token')
    await ground.http.delete(ground.core('serviceaccounts/robot'))
    await ground.http.post(ground.core('serviceaccounts'), account('robot'))
    await ground.eventually(
      () => review(ground, token),
      answer => answer.at('status.authenticated') !== true,
    )
  },
  'a token may be bound to a pod, and ends with it': async ground => {
    const { http, core } = ground
    await http.post(core('serviceaccounts'), account('robot'))
    await http.post(core('pods'), pod('p', { serviceAccountName: 'robot' }))
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' }
    const ask = () => http.post(core('serviceaccounts/robot/token'), { spec: { boundObjectRef } })
    const made = await ask()
    assert.equal(made.status, 201)
    const answer = await review(ground, made.text('status.token'))
    const extra = answer.at('status.user.extra') as Record<string, string[]>
    assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['p'])
    // Another one: a server may remember for a while that a token was good.
    const unseen = (await ask()).text('status.token')
    await http.delete(core('pods/p'), { gracePeriodSeconds: 0 })
    await ground.eventually(
      () => review(ground, unseen),
      later => later.at('status.authenticated') !== true,
    )
  },
  'a token is not bound to the pod of another account': async ground => {
    const { http, core } = ground
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
  'a bearer acts as the account': async ground => {
    const token = (await robotToken(ground)).text('status.token')
    const bearer = ground.http.bearer(token)
    try {
      const answer = await bearer.get(ground.core('pods'))
      assert.equal(answer.status, 403)
      assert.equal(
        answer.at('message'),
        `pods is forbidden: User "system:serviceaccount:${ground.namespace}:robot" cannot list resource "pods" in API group "" in the namespace "${ground.namespace}"`,
      )
      assert.equal((await bearer.get('/api')).status, 200)
    } finally {
      bearer.close()
    }
  },
  'a bearer who may not impersonate is told': async ground => {
    const token = (await robotToken(ground)).text('status.token')
    const bearer = ground.http.bearer(token)
    try {
      const refused = await bearer.get('/api', { headers: { 'impersonate-user': 'alice' } })
      assert.equal(refused.status, 403)
      const who = `User "system:serviceaccount:${ground.namespace}:robot"`
      assert.equal(refused.at('message'), `forbidden: ${who} cannot impersonate-on:user-info:get path "/api"`)
      const ofAccount = { headers: { 'impersonate-user': 'system:serviceaccount:default:other' } }
      assert.equal(
        (await bearer.get('/api/v1/nodes/n', ofAccount)).at('message'),
        `nodes "n" is forbidden: ${who} cannot impersonate-on:serviceaccount:get resource "nodes" in API group "" at the cluster scope`,
      )
    } finally {
      bearer.close()
    }
  },
  'a bad token is refused, whatever it wants': async ({ http }) => {
    const bearer = http.bearer('nonsense')
    try {
      const refused = await bearer.get('/version')
      assert.equal(refused.status, 401)
      assert.equal(refused.at('reason'), 'Unauthorized')
      assert.equal(refused.at('message'), 'Unauthorized')
    } finally {
      bearer.close()
    }
  },
  'a review needs a token': async ground => {
    assert.equal((await review(ground, '')).status, 400)
  },
})
