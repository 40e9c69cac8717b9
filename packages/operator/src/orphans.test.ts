// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setErrorCode } from '@grove/api'
import { FakeClock, type KubeObject, type Resource } from '@grove/kube'
import type { OperatorContext } from './operator-context.ts'
import { adopt, orphansOfSet } from './orphans.ts'
import { resources } from './resources.ts'
import type { StoredSet } from './stored.ts'
import { clique, sampleSet } from './testing/sample-set.ts'
import { SimulatedApi } from './testing/simulation/api.ts'

const labels = { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': 'w' }

function cluster() {
  const api = new SimulatedApi(new FakeClock())
  const set = api.put(
    resources.podCliqueSets,
    sampleSet({ name: 'w', cliques: [clique('web')] }) as never,
  ) as unknown as StoredSet
  const { namespace } = set.metadata
  const put = (resource: Resource<never>, name: string, metadata = {}) =>
    api.put(resource as unknown as Resource<KubeObject>, {
      metadata: { namespace, name, labels, ...metadata },
    })
  const adoptAll = (known = set) =>
    adopt(
      orphansOfSet(set, api.world),
      resources.podCliqueSets,
      known as never,
      setErrorCode.setControllerReference,
      { world: api.world } as OperatorContext,
      new AbortController().signal,
    )
  const ownersOf = (resource: Resource<never>, name: string) =>
    api
      .get(resource as unknown as Resource<KubeObject>, name)
      ?.metadata.ownerReferences?.map(({ uid }) => uid)
  return { api, set, put, adoptAll, ownersOf }
}

const services = resources.services as unknown as Resource<never>
const cliques = resources.podCliques as unknown as Resource<never>

test('what nobody controls is taken over under names that are wanted, and cliques under any', async () => {
  const { set, put, adoptAll, ownersOf } = cluster()
  put(services, 'w-0')
  put(services, 'copy-of-w-0')
  put(cliques, 'w-0-web')
  put(cliques, 'w-7-web')
  put(cliques, 'w-0-g-0-work', { labels: { ...labels, 'grove.io/podcliquescalinggroup': 'w-0-g' } })
  put(cliques, 'other', { labels: { ...labels, 'app.kubernetes.io/part-of': 'x' } })
  assert.equal(await adoptAll(), 3)
  const { uid } = set.metadata
  assert.deepEqual(
    [ownersOf(services, 'w-0'), ownersOf(cliques, 'w-0-web'), ownersOf(cliques, 'w-7-web')],
    [[uid], [uid], [uid]],
  )
  assert.equal(ownersOf(services, 'copy-of-w-0'), undefined)
  assert.equal(ownersOf(cliques, 'w-0-g-0-work'), undefined, 'it belongs to its group')
  assert.equal(ownersOf(cliques, 'other'), undefined)
  assert.equal(await adoptAll(), 0)
})

test('what is on its way out, or has a controller that is no more, is left to its fate', async () => {
  const { put, adoptAll } = cluster()
  const former = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    name: 'w',
    uid: 'former',
    controller: true,
  }
  put(cliques, 'w-0-web', { deletionTimestamp: '2030-01-01T00:00:00Z' })
  put(cliques, 'w-1-web', { ownerReferences: [former] })
  assert.equal(await adoptAll(), 0)
})

test('owners that do not control stay', async () => {
  const { set, put, adoptAll, ownersOf } = cluster()
  put(cliques, 'w-0-web', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' }] })
  assert.equal(await adoptAll(), 1)
  assert.deepEqual(ownersOf(cliques, 'w-0-web'), ['c', set.metadata.uid])
})

test('a set that goes, or was made anew, takes nothing over, even where we have not heard of it yet', async () => {
  const { api, set, put, adoptAll } = cluster()
  put(cliques, 'w-0-web')
  assert.equal(await adoptAll({ ...set, metadata: { ...set.metadata, uid: 'former' } }), 0)
  api.modify(resources.podCliqueSets, 'w', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })
  assert.equal(await adoptAll(set), 0)
})
