// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCluster } from '../cluster.ts'
import { storages } from '../registry/storages.ts'

describe('aggregated cluster roles', () => {
  it('contain the rules of all cluster roles that their selectors match, and follow changes', async () => {
    const { store, stop } = createCluster({ authorization: 'rbac' })
    const rulesOf = (name: string) => store.get(storages.clusterRoles, name)?.rules ?? []
    const viewed = rulesOf('view').length
    assert.ok(viewed > 0)
    // `admin` aggregates `edit`, which aggregates `view`.
    assert.ok(rulesOf('admin').length > rulesOf('edit').length)
    assert.ok(rulesOf('edit').length > viewed)
    const rule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
    store.write(
      storages.clusterRoles,
      'more',
      { metadata: { name: 'more', labels }, rules: [rule] },
      undefined,
    )
    await Promise.resolve()
    for (const name of ['view', 'edit', 'admin'])
      assert.deepEqual(
        rulesOf(name).find(each => each.apiGroups?.includes('example.com')),
        rule,
      )
    stop()
  })
})
