// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClientOn } from './create-client.ts'
import { discover } from './discovery.ts'
import type { Transport } from './transport.ts'

function serving(documents: Record<string, object>): Transport & { accepted: string[] } {
  const accepted: string[] = []
  return {
    accepted,
    async request({ path, headers }) {
      accepted.push(String(headers.accept))
      const document = documents[path]
      if (!document) throw new Error(`nothing at ${path}`)
      return { status: 200, headers: {}, body: JSON.stringify(document) }
    },
    stream: () => Promise.reject(new Error('not asked')),
    close: async () => {},
  }
}

const wanted = [
  {
    group: '',
    version: 'v1',
    resource: 'pods',
    kind: 'Pod',
    namespaced: true,
    singular: 'pod',
    verbs: ['get', 'list'],
    shortNames: ['po'],
    categories: ['all'],
    subresources: ['status'],
    preferred: true,
  },
  {
    group: 'example.com',
    version: 'v2',
    resource: 'things',
    kind: 'Thing',
    namespaced: false,
    singular: '',
    verbs: ['get'],
    shortNames: [],
    categories: [],
    subresources: [],
    preferred: true,
  },
  {
    group: 'example.com',
    version: 'v1',
    resource: 'things',
    kind: 'Thing',
    namespaced: false,
    singular: '',
    verbs: ['get'],
    shortNames: [],
    categories: [],
    subresources: [],
    preferred: false,
  },
]

describe('discovery', () => {
  it('takes two requests if the server supports aggregated discovery', async () => {
    const pods = {
      resource: 'pods',
      responseKind: { kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
      verbs: ['get', 'list'],
      shortNames: ['po'],
      categories: ['all'],
      subresources: [{ subresource: 'status' }],
    }
    const things = { resource: 'things', responseKind: { kind: 'Thing' }, scope: 'Cluster', verbs: ['get'] }
    const kind = 'APIGroupDiscoveryList'
    const transport = serving({
      '/api': { kind, items: [{ metadata: {}, versions: [{ version: 'v1', resources: [pods] }] }] },
      '/apis': {
        kind,
        items: [
          {
            metadata: { name: 'example.com' },
            versions: [
              { version: 'v2', resources: [things] },
              { version: 'v1', resources: [things] },
            ],
          },
        ],
      },
    })
    assert.deepEqual(await discover(createClientOn(transport)), wanted)
    assert.equal(transport.accepted.length, 2)
    assert.match(transport.accepted[0]!, /as=APIGroupDiscoveryList/)
  })

  it('requests every group version if the server does not support it', async () => {
    const things = { resources: [{ name: 'things', kind: 'Thing', namespaced: false, verbs: ['get'] }] }
    const transport = serving({
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/apis': {
        kind: 'APIGroupList',
        groups: [
          {
            name: 'example.com',
            versions: [{ version: 'v2' }, { version: 'v1' }],
            preferredVersion: { version: 'v2' },
          },
        ],
      },
      '/api/v1': {
        resources: [
          {
            name: 'pods',
            singularName: 'pod',
            kind: 'Pod',
            namespaced: true,
            verbs: ['get', 'list'],
            shortNames: ['po'],
            categories: ['all'],
          },
          { name: 'pods/status', kind: 'Pod', namespaced: true, verbs: ['get'] },
        ],
      },
      '/apis/example.com/v2': things,
      '/apis/example.com/v1': things,
    })
    assert.deepEqual(await discover(createClientOn(transport)), wanted)
  })
})
