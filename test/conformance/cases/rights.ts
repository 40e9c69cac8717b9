// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { CallOptions } from '../http.ts'
import { allowed, as, grant, rbacVersion, readMaps, role, roleBinding, user } from '../identities.ts'
import { chapter } from '../suite.ts'

const reviews = '/apis/authorization.k8s.io/v1'

export const rights = chapter('privilege escalation, impersonation and access reviews', {
  'a user can grant only rights that it has': async fixture => {
    const { http, group } = fixture
    await grant(fixture, user('alice'), readMaps, {
      verbs: ['*'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'rolebindings'],
    })
    const path = group(rbacVersion, 'roles')
    await fixture.eventually(() => http.get(path, as('alice')), allowed)
    const escalated = await http.post(
      path,
      role('more', { verbs: ['get', 'delete', 'watch'], apiGroups: [''], resources: ['configmaps'] }),
      as('alice'),
    )
    // All verbs include `escalate`.
    assert.equal(escalated.status, 201)
    await http.jsonPatch(group(rbacVersion, 'roles/granted'), [
      { op: 'replace', path: '/rules/1/verbs', value: ['create', 'get', 'list', 'update', 'patch'] },
    ])
    const later = await fixture.eventually(
      () =>
        http.post(
          path,
          role('again', {
            verbs: ['get', 'delete', 'watch'],
            apiGroups: [''],
            resources: ['configmaps', 'secrets'],
          }),
          { ...as('alice'), query: { dryRun: 'All' } },
        ),
      response => response.status === 403,
    )
    assert.equal(
      later.at('message'),
      `roles.rbac.authorization.k8s.io "again" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["delete" "watch"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "watch"]}`,
    )
    assert.equal((await http.post(path, role('less', readMaps), as('alice'))).status, 201)
    const bindings = group(rbacVersion, 'rolebindings')
    assert.equal((await http.post(bindings, roleBinding('c', 'less', user('bob')), as('alice'))).status, 201)
    const bound = await http.post(bindings, roleBinding('d', 'more', user('bob')), as('alice'))
    assert.equal(
      bound.at('message'),
      `rolebindings.rbac.authorization.k8s.io "d" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["delete" "watch"]}`,
    )
    const absent = await http.post(bindings, roleBinding('e', 'absent', user('bob')), as('alice'))
    assert.equal(absent.status, 404)
    assert.equal(absent.at('message'), 'rolebindings.rbac.authorization.k8s.io "absent" not found')
  },
  'impersonation without a user is rejected': async ({ http }) => {
    const rejected = await http.get('/version', { headers: { 'impersonate-group': 'readers' } })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"readers"}, Extra:map[string][]string(nil)} without impersonating a user name',
    )
  },
  'an impersonated user reads its own user name': async ({ http, namespace }) => {
    const ask = (options: CallOptions) =>
      http.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, options)
    assert.deepEqual((await ask(as('alice', 'a', 'b'))).at('status.userInfo'), {
      username: 'alice',
      groups: ['a', 'b', 'system:authenticated'],
    })
    const robot = await ask(as(`system:serviceaccount:${namespace}:robot`))
    assert.deepEqual(robot.at('status.userInfo'), {
      username: `system:serviceaccount:${namespace}:robot`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    })
  },
  'a user can review its own access': async fixture => {
    const { http, namespace } = fixture
    await grant(fixture, user('alice'), readMaps)
    const ask = (verb: string) =>
      http.post(
        `${reviews}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes: { namespace, verb, resource: 'configmaps' } } },
        as('alice'),
      )
    const yes = await fixture.eventually(
      () => ask('get'),
      response => response.at('status.allowed') === true,
    )
    assert.equal(yes.status, 201)
    assert.equal(
      yes.at('status.reason'),
      `RBAC: allowed by RoleBinding "granted/${namespace}" of Role "granted" to User "alice"`,
    )
    assert.deepEqual((await ask('delete')).at('status'), { allowed: false })
  },
  'an administrator can review the access of other users': async fixture => {
    const { http, namespace } = fixture
    await grant(fixture, user('alice'), readMaps)
    const ask = (name: string) =>
      http.post(`${reviews}/subjectaccessreviews`, {
        spec: { user: name, resourceAttributes: { namespace, verb: 'list', resource: 'configmaps' } },
      })
    await fixture.eventually(
      () => ask('alice'),
      response => response.at('status.allowed') === true,
    )
    assert.deepEqual((await ask('bob')).at('status'), { allowed: false })
    assert.equal(
      (await http.post(`${reviews}/subjectaccessreviews`, { spec: { user: 'bob' } }, as('alice'))).status,
      403,
    )
  },
  'a user can list its rules': async fixture => {
    const { http, namespace } = fixture
    await grant(fixture, user('alice'), { ...readMaps, resourceNames: ['a'] })
    const response = await fixture.eventually(
      () => http.post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace } }, as('alice')),
      ({ raw }) => raw.includes('configmaps'),
    )
    const rules = response.at('status.resourceRules') as object[]
    assert.ok(rules.some(rule => JSON.stringify(rule).includes('"resources":["configmaps"]')))
    assert.ok(rules.some(rule => JSON.stringify(rule).includes('selfsubjectaccessreviews')))
    assert.equal(response.at('status.incomplete'), false)
  },
})
