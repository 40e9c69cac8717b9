// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap } from '../../objects.ts'
import { chapter, type Fixture } from '../../suite.ts'
import { isGone } from './waits.ts'

interface Owned {
  readonly owner: string
  readonly uid: unknown
  readonly block?: boolean
}

function ownedBy({ owner, uid, block }: Owned): object {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid }
  return { ownerReferences: [{ ...reference, ...(block && { blockOwnerDeletion: true }) }] }
}

/** Creates an owner and a dependent. */
async function family({ http, core }: Fixture, childMetadata: object = {}, block = false): Promise<void> {
  const owner = await http.post(core('configmaps'), configMap('owner'))
  const metadata = { ...ownedBy({ owner: 'owner', uid: owner.at('metadata.uid'), block }), ...childMetadata }
  assert.equal((await http.post(core('configmaps'), configMap('child', {}, metadata))).status, 201)
}

const held = { finalizers: ['example.com/hold'] }

export const cascades = chapter('deletion of dependents', {
  'background deletion deletes the owner at once and its dependents later': async fixture => {
    const { http, core } = fixture
    await family(fixture)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Background' })
    assert.equal((await http.get(core('configmaps/owner'))).status, 404)
    await fixture.eventually(() => http.get(core('configmaps/child')), isGone)
  },
  'foreground deletion waits for dependents that block the owner': async fixture => {
    const { http, core } = fixture
    await family(fixture, held, true)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Foreground' })
    await fixture.eventually(
      () => http.get(core('configmaps/child')),
      child => child.at('metadata.deletionTimestamp') !== undefined,
    )
    assert.deepEqual((await http.get(core('configmaps/owner'))).at('metadata.finalizers'), [
      'foregroundDeletion',
    ])
    await http.mergePatch(core('configmaps/child'), { metadata: { finalizers: null } })
    await fixture.eventually(() => http.get(core('configmaps/owner')), isGone)
  },
  'foreground deletion does not wait for dependents that do not block the owner': async fixture => {
    const { http, core } = fixture
    await family(fixture, held)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Foreground' })
    await fixture.eventually(() => http.get(core('configmaps/owner')), isGone)
    await fixture.eventually(
      () => http.get(core('configmaps/child')),
      child => child.at('metadata.deletionTimestamp') !== undefined,
    )
    await http.mergePatch(core('configmaps/child'), { metadata: { finalizers: null } })
  },
  'orphaning removes the owner reference of dependents': async fixture => {
    const { http, core } = fixture
    await family(fixture)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Orphan' })
    await fixture.eventually(() => http.get(core('configmaps/owner')), isGone)
    assert.equal((await http.get(core('configmaps/child'))).at('metadata.ownerReferences'), undefined)
  },
  'an object whose owner never existed is deleted': async fixture => {
    const { http, core } = fixture
    const metadata = ownedBy({ owner: 'never', uid: '00000000-0000-4000-8000-000000000000' })
    await http.post(core('configmaps'), configMap('child', {}, metadata))
    await fixture.eventually(() => http.get(core('configmaps/child')), isGone)
  },
  'an owner in another namespace does not count': async fixture => {
    const { http, core } = fixture
    const elsewhere = '/api/v1/namespaces/default/configmaps'
    const owner = await http.post(elsewhere, configMap(fixture.id))
    const metadata = ownedBy({ owner: fixture.id, uid: owner.at('metadata.uid') })
    await http.post(core('configmaps'), configMap('child', {}, metadata))
    await fixture.eventually(() => http.get(core('configmaps/child')), isGone)
    await http.delete(`${elsewhere}/${fixture.id}`)
  },
})

export const namespaceDeletion = chapter('deletion of a namespace', {
  'deletes all objects in the namespace, then the namespace': async fixture => {
    const { http, core, namespace } = fixture
    await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(`/api/v1/namespaces/${namespace}`)
    assert.equal(deleted.at('status.phase'), 'Terminating')
    await fixture.eventually(() => http.get(`/api/v1/namespaces/${namespace}`), isGone)
  },
  'an object with a finalizer keeps the namespace, and conditions report it': async fixture => {
    const { http, core, namespace } = fixture
    await http.post(core('configmaps'), configMap('a', {}, held))
    await http.delete(`/api/v1/namespaces/${namespace}`)
    const conditionOf = (response: { at(path: string): unknown }, type: string) =>
      ((response.at('status.conditions') ?? []) as { type: string; status: string; message: string }[]).find(
        each => each.type === type,
      )
    const waiting = await fixture.eventually(
      () => http.get(`/api/v1/namespaces/${namespace}`),
      response => conditionOf(response, 'NamespaceFinalizersRemaining')?.status === 'True',
    )
    assert.equal(
      conditionOf(waiting, 'NamespaceFinalizersRemaining')?.message,
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    )
    assert.equal(
      conditionOf(waiting, 'NamespaceContentRemaining')?.message,
      'Some resources are remaining: configmaps. has 1 resource instances',
    )
    const rejected = await http.post(core('configmaps'), configMap('late'))
    assert.equal(rejected.status, 403)
    assert.match(rejected.text('message'), /because it is being terminated$/)
    await http.mergePatch(core('configmaps/a'), { metadata: { finalizers: null } })
    await fixture.eventually(() => http.get(`/api/v1/namespaces/${namespace}`), isGone)
  },
})
