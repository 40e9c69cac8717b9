// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setErrorCode } from '@grove/api'
import { FakeClock, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { adopt, orphansOfSet } from './adoption.ts'

const labels = { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': 'w' }
const nameLabel = 'app.kubernetes.io/name'
const componentLabel = 'app.kubernetes.io/component'

function cluster() {
  const api = new SimulatedApi(new FakeClock())
  const set = api.put(
    resources.podCliqueSets,
    sampleSet({ name: 'w', cliques: [clique('web')] }) as never,
  ) as unknown as StoredSet
  const { namespace } = set.metadata
  const put = (
    resource: Resource<never>,
    name: string,
    { labels: more = {}, ...metadata }: { labels?: Record<string, string>; [member: string]: unknown } = {},
  ) =>
    api.put(resource as unknown as Resource<KubeObject>, {
      metadata: { namespace, name, labels: { ...labels, [nameLabel]: name, ...more }, ...metadata },
    })
  const adoptAll = (known = set) =>
    adopt(
      orphansOfSet(set, api.caches),
      resources.podCliqueSets,
      known as never,
      setErrorCode.setControllerReference,
      { caches: api.caches } as OperatorContext,
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

const gangs = resources.podGangs as unknown as Resource<never>
const headless = { labels: { [componentLabel]: 'pcs-headless-service' } }

test('adopts children without a controller, for any number of replicas', async () => {
  const { set, put, adoptAll, ownersOf } = cluster()
  const own: [Resource<never>, string, object?][] = [
    [services, 'w-0', headless],
    [services, 'w-7', headless],
    [cliques, 'w-0-web'],
    [cliques, 'w-7-web'],
    [gangs, 'w-0'],
    [gangs, 'w-7'],
  ]
  for (const [resource, name, metadata] of own) put(resource, name, metadata as never)
  put(cliques, 'w-0-g-0-work', { labels: { 'grove.io/podcliquescalinggroup': 'w-0-g' } })
  put(cliques, 'other', { labels: { 'app.kubernetes.io/part-of': 'x' } })
  assert.equal(await adoptAll(), own.length)
  for (const [resource, name] of own) assert.deepEqual(ownersOf(resource, name), [set.metadata.uid], name)
  assert.equal(ownersOf(cliques, 'w-0-g-0-work'), undefined, 'its group adopts it')
  assert.equal(ownersOf(cliques, 'other'), undefined)
  assert.equal(await adoptAll(), 0)
})

test('does not adopt an object that only carries a copy of the labels', async () => {
  const { put, adoptAll } = cluster()
  put(services, 'copy-of-w-0', { labels: { ...headless.labels, [nameLabel]: 'w-0' } })
  // `kubectl expose pod` copies labels like this. The object is ignored although it has the name of a later replica's
  // Service.
  put(services, 'w-1', { labels: { [componentLabel]: 'pcs-pod' } })
  put(cliques, 'copy-of-w-0-web', { labels: { [nameLabel]: 'w-0-web' } })
  put(gangs, 'copy-of-w-0')
  put(gangs, 'w-0-copy')
  assert.equal(await adoptAll(), 0)
})

test('does not adopt terminating objects and objects whose controller no longer exists', async () => {
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

test('keeps owner references that are not the controller', async () => {
  const { set, put, adoptAll, ownersOf } = cluster()
  put(cliques, 'w-0-web', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' }] })
  assert.equal(await adoptAll(), 1)
  assert.deepEqual(ownersOf(cliques, 'w-0-web'), ['c', set.metadata.uid])
})

test('a set that was deleted or recreated adopts nothing, even if the cache does not show that yet', async () => {
  const { api, set, put, adoptAll } = cluster()
  put(cliques, 'w-0-web')
  assert.equal(await adoptAll({ ...set, metadata: { ...set.metadata, uid: 'former' } }), 0)
  api.modify(resources.podCliqueSets, 'w', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })
  assert.equal(await adoptAll(set), 0)
})
