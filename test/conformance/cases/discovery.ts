// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { at } from '../json.ts'
import { chapter } from '../suite.ts'

const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }

interface ListedResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export const discovery = chapter('discovery and health', {
  'returns the version of the server': async ({ http }) => {
    const response = await http.get('/version')
    assert.equal(response.status, 200)
    assert.equal(response.at('major'), '1')
    assert.equal(response.at('minor'), '37')
    assert.match(response.text('gitVersion'), /^v1\.37\./)
  },
  'returns ok from the health endpoints': async ({ http }) => {
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const response = await http.get(path)
      assert.equal(response.status, 200, path)
      assert.equal(response.raw, 'ok')
    }
  },
  'the core group has one version': async ({ http }) => {
    const response = await http.get('/api')
    assert.equal(response.at('kind'), 'APIVersions')
    assert.deepEqual(response.at('versions'), ['v1'])
  },
  'lists groups with their preferred version': async ({ http }) => {
    const response = await http.get('/apis')
    assert.equal(response.at('kind'), 'APIGroupList')
    const apps = (response.at('groups') as object[]).find(group => at(group, 'name') === 'apps')
    assert.deepEqual(apps, {
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    })
  },
  'returns a single group': async ({ http }) => {
    const response = await http.get('/apis/apps')
    assert.equal(response.at('kind'), 'APIGroup')
    assert.equal(response.at('name'), 'apps')
    assert.deepEqual(response.at('preferredVersion'), { groupVersion: 'apps/v1', version: 'v1' })
  },
  'returns 404 for an unknown group': async ({ http }) => {
    assert.equal((await http.get('/apis/nope.example.com')).status, 404)
  },
  'lists the resources of a version with verbs and short names': async ({ http }) => {
    const response = await http.get('/api/v1')
    assert.equal(response.at('kind'), 'APIResourceList')
    assert.equal(response.at('groupVersion'), 'v1')
    const pods = (response.at('resources') as ListedResource[]).find(({ name }) => name === 'pods')
    assert.equal(pods?.kind, 'Pod')
    assert.equal(pods?.namespaced, true)
    assert.deepEqual(pods?.shortNames, ['po'])
    assert.deepEqual(pods?.categories, ['all'])
    assert.deepEqual([...(pods?.verbs ?? [])].sort(), [
      'create',
      'delete',
      'deletecollection',
      'get',
      'list',
      'patch',
      'update',
      'watch',
    ])
  },
  'lists subresources': async ({ http }) => {
    const resources = (await http.get('/api/v1')).at('resources') as ListedResource[]
    const kindOf = (wanted: string) => resources.find(({ name }) => name === wanted)?.kind
    assert.equal(kindOf('pods/binding'), 'Binding')
    assert.equal(kindOf('pods/eviction'), 'Eviction')
    assert.equal(kindOf('pods/status'), 'Pod')
    assert.equal(kindOf('namespaces/finalize'), 'Namespace')
  },
  'the scale of deployments has another group': async ({ http }) => {
    const resources = (await http.get('/apis/apps/v1')).at('resources') as ListedResource[]
    const scale = resources.find(({ name }) => name === 'deployments/scale')
    assert.equal(at(scale, 'group'), 'autoscaling')
    assert.equal(at(scale, 'version'), 'v1')
    assert.equal(scale?.kind, 'Scale')
  },
  'returns aggregated discovery of all groups': async ({ http }) => {
    const response = await http.get('/apis', { headers: aggregated })
    assert.equal(response.status, 200)
    assert.equal(response.at('kind'), 'APIGroupDiscoveryList')
    assert.equal(response.at('apiVersion'), 'apidiscovery.k8s.io/v2')
    const apps = (response.at('items') as object[]).find(item => at(item, 'metadata.name') === 'apps')
    const deployments = (at(apps, 'versions.0.resources') as object[]).find(
      resource => at(resource, 'resource') === 'deployments',
    )
    assert.equal(at(deployments, 'scope'), 'Namespaced')
    assert.equal(at(deployments, 'singularResource'), 'deployment')
    assert.deepEqual(at(deployments, 'shortNames'), ['deploy'])
    assert.deepEqual(at(deployments, 'responseKind'), { group: '', version: '', kind: 'Deployment' })
    assert.deepEqual(
      (at(deployments, 'subresources') as object[]).map(subresource => at(subresource, 'subresource')).sort(),
      ['scale', 'status'],
    )
  },
  'returns aggregated discovery of the core group': async ({ http }) => {
    const response = await http.get('/api', { headers: aggregated })
    assert.equal(response.at('kind'), 'APIGroupDiscoveryList')
    assert.equal(response.at('items.0.versions.0.version'), 'v1')
  },
  'returns 304 for unchanged discovery': async ({ http }) => {
    const first = await http.get('/api', { headers: aggregated })
    assert.equal(typeof first.headers.etag, 'string')
    const again = await http.get('/api', {
      headers: { ...aggregated, 'if-none-match': String(first.headers.etag) },
    })
    assert.equal(again.status, 304)
  },
})
