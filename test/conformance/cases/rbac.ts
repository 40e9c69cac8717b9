// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { CallOptions } from '../http.ts'
import { allowed, as, grant, rbacVersion, readMaps, role, roleBinding, user } from '../identities.ts'
import { configMap } from '../objects.ts'
import { chapter } from '../suite.ts'

const reviews = '/apis/authorization.k8s.io/v1'

export const rbac = chapter('role-based access', {
  'who has no role may not list': async ({ http, core, namespace }) => {
    const refused = await http.get(core('pods'), as('alice'))
    assert.equal(refused.status, 403)
    assert.equal(refused.at('reason'), 'Forbidden')
    assert.equal(
      refused.at('message'),
      `pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
    )
    assert.deepEqual(refused.at('details'), { kind: 'pods' })
  },
  'a refusal names the object and the group': async ({ http, group, namespace }) => {
    const refused = await http.get(group('apps/v1', 'deployments/d'), as('alice'))
    assert.equal(
      refused.at('message'),
      `deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments" in API group "apps" in the namespace "${namespace}"`,
    )
    assert.deepEqual(refused.at('details'), { name: 'd', group: 'apps', kind: 'deployments' })
  },
  'a refusal for all namespaces says so': async ({ http }) => {
    assert.equal(
      (await http.get('/api/v1/pods', as('alice'))).at('message'),
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope',
    )
  },
  'a refusal names the subresource': async ({ http, core, namespace }) => {
    assert.equal(
      (await http.get(core('pods/p/log'), as('alice'))).at('message'),
      `pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "${namespace}"`,
    )
  },
  'a refusal of a path names the path': async ({ http }) => {
    const refused = await http.get('/metrics', as('alice'))
    assert.equal(refused.status, 403)
    assert.equal(refused.at('message'), 'forbidden: User "alice" cannot get path "/metrics"')
  },
  'a role in a namespace allows its verbs there': async ground => {
    const { http, core } = ground
    await http.post(core('configmaps'), configMap('a'))
    await grant(ground, user('alice'), readMaps)
    const listed = await ground.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    assert.ok(listed.names.includes('a'))
    assert.equal((await http.get(core('configmaps/a'), as('alice'))).status, 200)
    assert.equal((await http.delete(core('configmaps/a'), undefined, as('alice'))).status, 403)
    assert.equal((await http.get('/api/v1/namespaces/default/configmaps', as('alice'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('bob'))).status, 403)
  },
  'a watch is a verb of its own': async ground => {
    const { http, core, namespace } = ground
    await grant(ground, user('alice'), readMaps)
    await ground.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    const refused = await http.get(core('configmaps'), { ...as('alice'), query: { watch: 'true' } })
    assert.equal(
      refused.at('message'),
      `configmaps is forbidden: User "alice" cannot watch resource "configmaps" in API group "" in the namespace "${namespace}"`,
    )
  },
  'a role may be for named objects': async ground => {
    const { http, core } = ground
    await http.post(core('configmaps'), configMap('mine'))
    await http.post(core('configmaps'), configMap('other'))
    await grant(ground, user('alice'), { ...readMaps, resourceNames: ['mine'] })
    await ground.eventually(() => http.get(core('configmaps/mine'), as('alice')), allowed)
    assert.equal((await http.get(core('configmaps/other'), as('alice'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('alice'))).status, 403)
  },
  'subresources are granted by themselves': async ground => {
    const { http, group } = ground
    const deployments = group('apps/v1', 'deployments')
    await grant(ground, user('alice'), {
      verbs: ['*'],
      apiGroups: ['apps'],
      resources: ['deployments/scale'],
    })
    const scale = await ground.eventually(() => http.get(`${deployments}/d/scale`, as('alice')), allowed)
    assert.equal(scale.status, 404)
    assert.equal((await http.get(`${deployments}/d`, as('alice'))).status, 403)
    assert.equal((await http.get(`${deployments}/d/status`, as('alice'))).status, 403)
  },
  'a role for all resources includes subresources': async ground => {
    const { http, core, group } = ground
    await grant(ground, user('alice'), { verbs: ['get'], apiGroups: ['*'], resources: ['*'] })
    await ground.eventually(() => http.get(core('pods/p'), as('alice')), allowed)
    assert.equal((await http.get(group('apps/v1', 'deployments/d/scale'), as('alice'))).status, 404)
    assert.equal((await http.get(core('pods'), as('alice'))).status, 403)
  },
  'groups are subjects': async ground => {
    const { http, core } = ground
    await grant(ground, { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' }, readMaps)
    await ground.eventually(() => http.get(core('configmaps'), as('alice', 'readers')), allowed)
    assert.equal((await http.get(core('configmaps'), as('alice', 'writers'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('alice', 'writers', 'readers'))).status, 200)
  },
  'service accounts are subjects': async ground => {
    const { http, core, namespace } = ground
    await grant(ground, { kind: 'ServiceAccount', name: 'robot', namespace }, readMaps)
    const robot = as(`system:serviceaccount:${namespace}:robot`)
    await ground.eventually(() => http.get(core('configmaps'), robot), allowed)
    assert.equal((await http.get(core('configmaps'), as('system:serviceaccount:default:robot'))).status, 403)
  },
  'all service accounts of a namespace are a group': async ground => {
    const { http, core, namespace } = ground
    await grant(
      ground,
      {
        kind: 'Group',
        apiGroup: 'rbac.authorization.k8s.io',
        name: `system:serviceaccounts:${namespace}`,
      },
      readMaps,
    )
    const anyone = as(`system:serviceaccount:${namespace}:any`)
    await ground.eventually(() => http.get(core('configmaps'), anyone), allowed)
  },
  'what a binding gave goes with it': async ground => {
    const { http, core, group } = ground
    await grant(ground, user('alice'), readMaps)
    await ground.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    await http.delete(group(rbacVersion, 'rolebindings/granted'))
    await ground.eventually(
      () => http.get(core('configmaps'), as('alice')),
      answer => answer.status === 403,
    )
  },
  'a cluster role may be bound in a namespace': async ground => {
    const { http, core, group, id } = ground
    await http.post(`/apis/${rbacVersion}/clusterroles`, {
      ...role(id, readMaps),
      kind: 'ClusterRole',
    })
    await http.post(group(rbacVersion, 'rolebindings'), roleBinding('b', id, user('alice'), 'ClusterRole'))
    await ground.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    assert.equal((await http.get('/api/v1/configmaps', as('alice'))).status, 403)
  },
  'a cluster role binding is for all namespaces and paths': async ground => {
    const { http, id } = ground
    await http.post(`/apis/${rbacVersion}/clusterroles`, {
      ...role(id, readMaps, { verbs: ['get'], nonResourceURLs: ['/metrics/*'] }),
      kind: 'ClusterRole',
    })
    await http.post(`/apis/${rbacVersion}/clusterrolebindings`, {
      ...roleBinding(id, id, user(id), 'ClusterRole'),
      kind: 'ClusterRoleBinding',
    })
    await ground.eventually(() => http.get('/api/v1/configmaps', as(id)), allowed)
    assert.notEqual((await http.get('/metrics/any', as(id))).status, 403)
    assert.equal((await http.get('/metrics', as(id))).status, 403)
  },
  'a binding to a role that is not there says so': async ground => {
    const { http, core, group, namespace } = ground
    await http.post(group(rbacVersion, 'rolebindings'), roleBinding('b', 'absent', user('alice')))
    const refused = await ground.eventually(
      () => http.get(core('configmaps'), as('alice')),
      answer => answer.text('message').includes('RBAC'),
    )
    assert.equal(
      refused.at('message'),
      `configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "${namespace}": rbac: RBAC: role.rbac.authorization.k8s.io "absent" not found`,
    )
  },
  'everybody who is known may look around': async ({ http }) => {
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/version', '/healthz', '/openapi/v2'])
      assert.equal((await http.get(path, as('alice'))).status, 200, path)
  },
  'nobody in particular sees the version and no more': async ({ http }) => {
    const nobody = as('system:anonymous')
    assert.equal((await http.get('/version', nobody)).status, 200)
    assert.equal(
      (await http.get('/api', nobody)).at('message'),
      'forbidden: User "system:anonymous" cannot get path "/api"',
    )
  },
  'nobody gives away what they do not have': async ground => {
    const { http, group } = ground
    await grant(ground, user('alice'), readMaps, {
      verbs: ['*'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'rolebindings'],
    })
    const path = group(rbacVersion, 'roles')
    await ground.eventually(() => http.get(path, as('alice')), allowed)
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
    const later = await ground.eventually(
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
      answer => answer.status === 403,
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
  'impersonation without a user is refused': async ({ http }) => {
    const refused = await http.get('/version', { headers: { 'impersonate-group': 'readers' } })
    assert.equal(refused.status, 400)
    assert.equal(
      refused.at('message'),
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"readers"}, Extra:map[string][]string(nil)} without impersonating a user name',
    )
  },
  'impersonated users see who they are': async ({ http, namespace }) => {
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
  'one may ask what one may do': async ground => {
    const { http, namespace } = ground
    await grant(ground, user('alice'), readMaps)
    const ask = (verb: string) =>
      http.post(
        `${reviews}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes: { namespace, verb, resource: 'configmaps' } } },
        as('alice'),
      )
    const yes = await ground.eventually(
      () => ask('get'),
      answer => answer.at('status.allowed') === true,
    )
    assert.equal(yes.status, 201)
    assert.equal(
      yes.at('status.reason'),
      `RBAC: allowed by RoleBinding "granted/${namespace}" of Role "granted" to User "alice"`,
    )
    assert.deepEqual((await ask('delete')).at('status'), { allowed: false })
  },
  'an administrator may ask for others': async ground => {
    const { http, namespace } = ground
    await grant(ground, user('alice'), readMaps)
    const ask = (name: string) =>
      http.post(`${reviews}/subjectaccessreviews`, {
        spec: { user: name, resourceAttributes: { namespace, verb: 'list', resource: 'configmaps' } },
      })
    await ground.eventually(
      () => ask('alice'),
      answer => answer.at('status.allowed') === true,
    )
    assert.deepEqual((await ask('bob')).at('status'), { allowed: false })
    assert.equal(
      (await http.post(`${reviews}/subjectaccessreviews`, { spec: { user: 'bob' } }, as('alice'))).status,
      403,
    )
  },
  'rules can be listed': async ground => {
    const { http, namespace } = ground
    await grant(ground, user('alice'), { ...readMaps, resourceNames: ['a'] })
    const answer = await ground.eventually(
      () => http.post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace } }, as('alice')),
      ({ raw }) => raw.includes('configmaps'),
    )
    const rules = answer.at('status.resourceRules') as object[]
    assert.ok(rules.some(rule => JSON.stringify(rule).includes('"resources":["configmaps"]')))
    assert.ok(rules.some(rule => JSON.stringify(rule).includes('selfsubjectaccessreviews')))
    assert.equal(answer.at('status.incomplete'), false)
  },
  'masters may do everything': async ({ http, core }) => {
    assert.equal((await http.get(core('pods'), as('root', 'system:masters'))).status, 200)
  },
})
