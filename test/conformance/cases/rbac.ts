// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { allowed, as, grant, rbacVersion, readMaps, role, roleBinding, user } from '../identities.ts'
import { configMap } from '../objects.ts'
import { chapter } from '../suite.ts'

export const rbac = chapter('role-based access', {
  'a user without a role cannot list': async ({ http, core, namespace }) => {
    const rejected = await http.get(core('pods'), as('alice'))
    assert.equal(rejected.status, 403)
    assert.equal(rejected.at('reason'), 'Forbidden')
    assert.equal(
      rejected.at('message'),
      `pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
    )
    assert.deepEqual(rejected.at('details'), { kind: 'pods' })
  },
  'a rejection names the object and the group': async ({ http, group, namespace }) => {
    const rejected = await http.get(group('apps/v1', 'deployments/d'), as('alice'))
    assert.equal(
      rejected.at('message'),
      `deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments" in API group "apps" in the namespace "${namespace}"`,
    )
    assert.deepEqual(rejected.at('details'), { name: 'd', group: 'apps', kind: 'deployments' })
  },
  'a rejection for all namespaces says "at the cluster scope"': async ({ http }) => {
    assert.equal(
      (await http.get('/api/v1/pods', as('alice'))).at('message'),
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope',
    )
  },
  'a rejection names the subresource': async ({ http, core, namespace }) => {
    assert.equal(
      (await http.get(core('pods/p/log'), as('alice'))).at('message'),
      `pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "${namespace}"`,
    )
  },
  'a rejection of a path names the path': async ({ http }) => {
    const rejected = await http.get('/metrics', as('alice'))
    assert.equal(rejected.status, 403)
    assert.equal(rejected.at('message'), 'forbidden: User "alice" cannot get path "/metrics"')
  },
  'a role in a namespace allows its verbs there': async fixture => {
    const { http, core } = fixture
    await http.post(core('configmaps'), configMap('a'))
    await grant(fixture, user('alice'), readMaps)
    const listed = await fixture.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    assert.ok(listed.names.includes('a'))
    assert.equal((await http.get(core('configmaps/a'), as('alice'))).status, 200)
    assert.equal((await http.delete(core('configmaps/a'), undefined, as('alice'))).status, 403)
    assert.equal((await http.get('/api/v1/namespaces/default/configmaps', as('alice'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('bob'))).status, 403)
  },
  'watch is a separate verb': async fixture => {
    const { http, core, namespace } = fixture
    await grant(fixture, user('alice'), readMaps)
    await fixture.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    const rejected = await http.get(core('configmaps'), { ...as('alice'), query: { watch: 'true' } })
    assert.equal(
      rejected.at('message'),
      `configmaps is forbidden: User "alice" cannot watch resource "configmaps" in API group "" in the namespace "${namespace}"`,
    )
  },
  'a role can be limited to named objects': async fixture => {
    const { http, core } = fixture
    await http.post(core('configmaps'), configMap('mine'))
    await http.post(core('configmaps'), configMap('other'))
    await grant(fixture, user('alice'), { ...readMaps, resourceNames: ['mine'] })
    await fixture.eventually(() => http.get(core('configmaps/mine'), as('alice')), allowed)
    assert.equal((await http.get(core('configmaps/other'), as('alice'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('alice'))).status, 403)
  },
  'a list or watch with a metadata.name selector needs only the right to that name': async fixture => {
    const { http, core, namespace } = fixture
    await http.post(core('configmaps'), configMap('mine'))
    await http.post(core('configmaps'), configMap('other'))
    await grant(fixture, user('alice'), { ...readMaps, resourceNames: ['mine'] })
    const select = (fieldSelector: string, more: object = {}) =>
      http.get(core('configmaps'), { ...as('alice'), query: { fieldSelector, ...more } })
    const listed = await fixture.eventually(() => select('metadata.name=mine'), allowed)
    assert.deepEqual(listed.names, ['mine'])
    const both = await select(`metadata.namespace=${namespace},metadata.name==mine`)
    assert.deepEqual(both.names, ['mine'])
    assert.equal((await select('metadata.name!=other')).status, 403)
    const rejected = await select('metadata.name=other')
    assert.equal(
      rejected.at('message'),
      `configmaps "other" is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
    )
    assert.equal(
      (await select('metadata.name=mine', { watch: 'true' })).at('message'),
      `configmaps "mine" is forbidden: User "alice" cannot watch resource "configmaps" in API group "" in the namespace "${namespace}"`,
    )
  },
  'subresources are granted separately': async fixture => {
    const { http, group } = fixture
    const deployments = group('apps/v1', 'deployments')
    await grant(fixture, user('alice'), {
      verbs: ['*'],
      apiGroups: ['apps'],
      resources: ['deployments/scale'],
    })
    const scale = await fixture.eventually(() => http.get(`${deployments}/d/scale`, as('alice')), allowed)
    assert.equal(scale.status, 404)
    assert.equal((await http.get(`${deployments}/d`, as('alice'))).status, 403)
    assert.equal((await http.get(`${deployments}/d/status`, as('alice'))).status, 403)
  },
  'a role for all resources includes subresources': async fixture => {
    const { http, core, group } = fixture
    await grant(fixture, user('alice'), { verbs: ['get'], apiGroups: ['*'], resources: ['*'] })
    await fixture.eventually(() => http.get(core('pods/p'), as('alice')), allowed)
    assert.equal((await http.get(group('apps/v1', 'deployments/d/scale'), as('alice'))).status, 404)
    assert.equal((await http.get(core('pods'), as('alice'))).status, 403)
  },
  'groups are subjects': async fixture => {
    const { http, core } = fixture
    await grant(fixture, { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' }, readMaps)
    await fixture.eventually(() => http.get(core('configmaps'), as('alice', 'readers')), allowed)
    assert.equal((await http.get(core('configmaps'), as('alice', 'writers'))).status, 403)
    assert.equal((await http.get(core('configmaps'), as('alice', 'writers', 'readers'))).status, 200)
  },
  'service accounts are subjects': async fixture => {
    const { http, core, namespace } = fixture
    await grant(fixture, { kind: 'ServiceAccount', name: 'robot', namespace }, readMaps)
    const robot = as(`system:serviceaccount:${namespace}:robot`)
    await fixture.eventually(() => http.get(core('configmaps'), robot), allowed)
    assert.equal((await http.get(core('configmaps'), as('system:serviceaccount:default:robot'))).status, 403)
  },
  'all service accounts of a namespace form a group': async fixture => {
    const { http, core, namespace } = fixture
    await grant(
      fixture,
      {
        kind: 'Group',
        apiGroup: 'rbac.authorization.k8s.io',
        name: `system:serviceaccounts:${namespace}`,
      },
      readMaps,
    )
    const anyone = as(`system:serviceaccount:${namespace}:any`)
    await fixture.eventually(() => http.get(core('configmaps'), anyone), allowed)
  },
  'deleting a binding revokes its rights': async fixture => {
    const { http, core, group } = fixture
    await grant(fixture, user('alice'), readMaps)
    await fixture.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    await http.delete(group(rbacVersion, 'rolebindings/granted'))
    await fixture.eventually(
      () => http.get(core('configmaps'), as('alice')),
      response => response.status === 403,
    )
  },
  'a cluster role may be bound in a namespace': async fixture => {
    const { http, core, group, id } = fixture
    await http.post(`/apis/${rbacVersion}/clusterroles`, {
      ...role(id, readMaps),
      kind: 'ClusterRole',
    })
    await http.post(group(rbacVersion, 'rolebindings'), roleBinding('b', id, user('alice'), 'ClusterRole'))
    await fixture.eventually(() => http.get(core('configmaps'), as('alice')), allowed)
    assert.equal((await http.get('/api/v1/configmaps', as('alice'))).status, 403)
  },
  'a cluster role binding is for all namespaces and paths': async fixture => {
    const { http, id } = fixture
    await http.post(`/apis/${rbacVersion}/clusterroles`, {
      ...role(id, readMaps, { verbs: ['get'], nonResourceURLs: ['/metrics/*'] }),
      kind: 'ClusterRole',
    })
    await http.post(`/apis/${rbacVersion}/clusterrolebindings`, {
      ...roleBinding(id, id, user(id), 'ClusterRole'),
      kind: 'ClusterRoleBinding',
    })
    await fixture.eventually(() => http.get('/api/v1/configmaps', as(id)), allowed)
    assert.notEqual((await http.get('/metrics/any', as(id))).status, 403)
    assert.equal((await http.get('/metrics', as(id))).status, 403)
  },
  'a rejection names a bound role that does not exist': async fixture => {
    const { http, core, group, namespace } = fixture
    await http.post(group(rbacVersion, 'rolebindings'), roleBinding('b', 'absent', user('alice')))
    const rejected = await fixture.eventually(
      () => http.get(core('configmaps'), as('alice')),
      response => response.text('message').includes('RBAC'),
    )
    assert.equal(
      rejected.at('message'),
      `configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "${namespace}": rbac: RBAC: role.rbac.authorization.k8s.io "absent" not found`,
    )
  },
  'every authenticated user has discovery': async ({ http }) => {
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/version', '/healthz', '/openapi/v2'])
      assert.equal((await http.get(path, as('alice'))).status, 200, path)
  },
  'an unauthenticated user can read the version but not the API': async ({ http }) => {
    const anonymous = as('system:anonymous')
    assert.equal((await http.get('/version', anonymous)).status, 200)
    assert.equal(
      (await http.get('/api', anonymous)).at('message'),
      'forbidden: User "system:anonymous" cannot get path "/api"',
    )
  },
  'system:masters has all rights': async ({ http, core }) => {
    assert.equal((await http.get(core('pods'), as('root', 'system:masters'))).status, 200)
  },
})
