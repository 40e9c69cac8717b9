// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap } from '../../objects.ts'
import { chapter, type Ground } from '../../suite.ts'
import { isGone } from './grounds.ts'

interface Owned {
  readonly owner: string
  readonly uid: unknown
  readonly block?: boolean
}

function ownedBy({ owner, uid, block }: Owned): object {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid }
  return { ownerReferences: [{ ...reference, ...(block && { blockOwnerDeletion: true }) }] }
}

/** An owner and what it owns. */
async function family({ http, core }: Ground, childMetadata: object = {}, block = false): Promise<void> {
  const owner = await http.post(core('configmaps'), configMap('owner'))
  const metadata = { ...ownedBy({ owner: 'owner', uid: owner.at('metadata.uid'), block }), ...childMetadata }
  assert.equal((await http.post(core('configmaps'), configMap('child', {}, metadata))).status, 201)
}

const held = { finalizers: ['example.com/hold'] }

export const cascades = chapter('what goes with an owner', {
  'in the background: the owner at once, the rest after it': async ground => {
    const { http, core } = ground
    await family(ground)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Background' })
    assert.equal((await http.get(core('configmaps/owner'))).status, 404)
    await ground.eventually(() => http.get(core('configmaps/child')), isGone)
  },
  'in the foreground: the owner waits for what blocks it': async ground => {
    const { http, core } = ground
    await family(ground, held, true)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Foreground' })
    await ground.eventually(
      () => http.get(core('configmaps/child')),
      child => child.at('metadata.deletionTimestamp') !== undefined,
    )
    assert.deepEqual((await http.get(core('configmaps/owner'))).at('metadata.finalizers'), [
      'foregroundDeletion',
    ])
    await http.mergePatch(core('configmaps/child'), { metadata: { finalizers: null } })
    await ground.eventually(() => http.get(core('configmaps/owner')), isGone)
  },
  'in the foreground: what does not block is not waited for': async ground => {
    const { http, core } = ground
    await family(ground, held)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Foreground' })
    await ground.eventually(() => http.get(core('configmaps/owner')), isGone)
    await ground.eventually(
      () => http.get(core('configmaps/child')),
      child => child.at('metadata.deletionTimestamp') !== undefined,
    )
    await http.mergePatch(core('configmaps/child'), { metadata: { finalizers: null } })
  },
  'orphans lose their reference': async ground => {
    const { http, core } = ground
    await family(ground)
    await http.delete(core('configmaps/owner'), { propagationPolicy: 'Orphan' })
    await ground.eventually(() => http.get(core('configmaps/owner')), isGone)
    assert.equal((await http.get(core('configmaps/child'))).at('metadata.ownerReferences'), undefined)
  },
  'what has an owner that never was goes': async ground => {
    const { http, core } = ground
    const metadata = ownedBy({ owner: 'never', uid: '00000000-0000-4000-8000-000000000000' })
    await http.post(core('configmaps'), configMap('child', {}, metadata))
    await ground.eventually(() => http.get(core('configmaps/child')), isGone)
  },
  'an owner in another namespace is none': async ground => {
    const { http, core } = ground
    const elsewhere = '/api/v1/namespaces/default/configmaps'
    const owner = await http.post(elsewhere, configMap(ground.id))
    const metadata = ownedBy({ owner: ground.id, uid: owner.at('metadata.uid') })
    await http.post(core('configmaps'), configMap('child', {}, metadata))
    await ground.eventually(() => http.get(core('configmaps/child')), isGone)
    await http.delete(`${elsewhere}/${ground.id}`)
  },
})

export const namespaceDeletion = chapter('what goes with a namespace', {
  'everything in it, then the namespace': async ground => {
    const { http, core, namespace } = ground
    await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(`/api/v1/namespaces/${namespace}`)
    assert.equal(deleted.at('status.phase'), 'Terminating')
    await ground.eventually(() => http.get(`/api/v1/namespaces/${namespace}`), isGone)
  },
  'what has a finalizer holds it, and its conditions say so': async ground => {
    const { http, core, namespace } = ground
    await http.post(core('configmaps'), configMap('a', {}, held))
    await http.delete(`/api/v1/namespaces/${namespace}`)
    const conditionOf = (answer: { at(path: string): unknown }, type: string) =>
      ((answer.at('status.conditions') ?? []) as { type: string; status: string; message: string }[]).find(
        each => each.type === type,
      )
    const waiting = await ground.eventually(
      () => http.get(`/api/v1/namespaces/${namespace}`),
      answer => conditionOf(answer, 'NamespaceFinalizersRemaining')?.status === 'True',
    )
    assert.equal(
      conditionOf(waiting, 'NamespaceFinalizersRemaining')?.message,
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    )
    assert.equal(
      conditionOf(waiting, 'NamespaceContentRemaining')?.message,
      'Some resources are remaining: configmaps. has 1 resource instances',
    )
    const refused = await http.post(core('configmaps'), configMap('late'))
    assert.equal(refused.status, 403)
    assert.match(refused.text('message'), /because it is being terminated$/)
    await http.mergePatch(core('configmaps/a'), { metadata: { finalizers: null } })
    await ground.eventually(() => http.get(`/api/v1/namespaces/${namespace}`), isGone)
  },
})
