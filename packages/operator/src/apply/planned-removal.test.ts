// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock, KubeError, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { removePlanned, uidsOf } from './planned-removal.ts'

type KubeErrorFields = ConstructorParameters<typeof KubeError>[0]

const namespace = 'ns'
const labels = { app: 'x' }
const cliques = resources.podCliques as unknown as Resource<KubeObject>
const pods = resources.pods as unknown as Resource<KubeObject>

const unclear: Record<string, Partial<KubeErrorFields>> = {
  'a 500': { code: 'Internal' },
  'a 503': { code: 'ServiceUnavailable' },
  'a 504': { code: 'Timeout' },
  'a lost connection': { code: 'Network', sent: true },
  'a truncated response': { code: 'Malformed' },
}
const final: Record<string, Partial<KubeErrorFields>> = {
  'a 403': { code: 'Forbidden' },
  'a 429': { code: 'TooManyRequests', retryAfterSeconds: 1 },
  'a 503 that names a time': { code: 'ServiceUnavailable', retryAfterSeconds: 1 },
  'no server listening': { code: 'Network', sent: false },
}

function makeClique(api: SimulatedApi, name: string, pod: string): void {
  const { metadata } = api.put(cliques, { metadata: { namespace, name, labels } })
  const owner = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    name,
    uid: metadata.uid,
    controller: true,
  }
  api.put(pods, { metadata: { namespace, name: pod, labels, ownerReferences: [owner] } })
}

/** Deletes two cliques with one pod each; the first request fails. Returns the requests and the remaining objects. */
async function outcomeOf(
  resource: Resource<KubeObject>,
  fields: Partial<KubeErrorFields>,
  { isExecuted = false, meanwhile = (_api: SimulatedApi): void => {} } = {},
) {
  const api = new SimulatedApi(new FakeClock())
  makeClique(api, 'a', 'a-x')
  makeClique(api, 'b', 'b-x')
  const planned = uidsOf(api.list(cliques))
  const sent: string[] = []
  const failFirst = (isAfter: boolean) => {
    if (sent.length > 1 || isAfter !== isExecuted) return
    meanwhile(api)
    throw new KubeError({ code: 'Internal', message: 'failed', ...fields })
  }
  api.hooks = {
    before: async ({ objects }) => {
      sent.push(objects.map(({ metadata }) => metadata.name).join(' '))
      failFirst(false)
    },
    after: () => failFirst(true),
  }
  const removal = { namespace, labelSelector: 'app=x', planned }
  const { signal } = new AbortController()
  const known = { resource, list: () => api.list(resource) }
  const error: unknown = await removePlanned(known, removal, api.caches.client, signal).then(
    () => undefined,
    failure => failure,
  )
  const staying = api.list(resource).filter(({ metadata }) => !metadata.deletionTimestamp)
  return { sent, error, staying: staying.map(({ metadata }) => metadata.name) }
}

describe('a deletion whose response leaves the outcome open', () => {
  for (const [what, fields] of Object.entries(unclear)) {
    it(`is deleted one by one when it still exists: ${what}`, async () => {
      assert.deepEqual(await outcomeOf(pods, fields), {
        sent: ['a-x b-x', 'a-x', 'b-x'],
        error: undefined,
        staying: [],
      })
    })

    it(`is not deleted again when it is gone: ${what}`, async () => {
      const { sent, error } = await outcomeOf(cliques, fields, { isExecuted: true })
      assert.deepEqual({ sent, error }, { sent: ['a b'], error: undefined })
    })

    it(`does not delete a successor of the same name: ${what}`, async () => {
      const meanwhile = (api: SimulatedApi) => makeClique(api, 'a', 'a-y')
      for (const [resource, sent, staying] of [
        [cliques, ['a b'], ['a']],
        [pods, ['a-x b-x'], ['a-y']],
      ] as const)
        assert.deepEqual(await outcomeOf(resource, fields, { isExecuted: true, meanwhile }), {
          sent,
          error: undefined,
          staying,
        })
    })
  }
})

describe('a deletion by UID that is rejected with a conflict', () => {
  it('fails while the object exists, so that the next reconcile plans it again', async () => {
    const api = new SimulatedApi(new FakeClock())
    makeClique(api, 'a', 'a-x')
    const planned = uidsOf(api.list(cliques))
    // An object of another owner prevents the deletion by label.
    api.put(pods, { metadata: { namespace, name: 'copy', labels } } as KubeObject)
    api.hooks = {
      before: async () => {
        throw new KubeError({ code: 'Conflict', message: 'rejected by a webhook' })
      },
      after: () => undefined,
    }
    const known = { resource: pods, list: () => api.list(pods) }
    const removal = { namespace, labelSelector: 'app=x', planned }
    await assert.rejects(
      removePlanned(known, removal, api.caches.client, new AbortController().signal),
      /rejected by a webhook/,
    )
  })
})

describe('a deletion that the API server has not executed', () => {
  for (const [what, fields] of Object.entries(final))
    it(`is planned again by the next reconcile: ${what}`, async () => {
      const { sent, error, staying } = await outcomeOf(pods, fields)
      assert.deepEqual({ sent, staying }, { sent: ['a-x b-x'], staying: ['a-x', 'b-x'] })
      assert.equal((error as KubeError).code, fields.code)
    })
})

describe('objects that match the selector and are not planned for deletion', () => {
  const foreign: Record<string, object[]> = {
    'without an owner': [],
    'of another controller': [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'theirs', controller: true },
    ],
    'owned, but not controlled, by a deleted object': [
      { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'a', uid: 'uid-1', controller: false },
    ],
  }
  for (const [what, ownerReferences] of Object.entries(foreign))
    for (const resource of [cliques, pods])
      it(`stay, and the others are deleted by UID: ${resource.resource} ${what}`, async () => {
        const api = new SimulatedApi(new FakeClock())
        makeClique(api, 'a', 'a-x')
        makeClique(api, 'b', 'b-x')
        const planned = uidsOf(api.list(cliques))
        api.put(resource, { metadata: { namespace, name: 'copy', labels, ownerReferences } } as KubeObject)
        api.collectsGarbage = false
        const sent: [string, boolean][] = []
        api.hooks = {
          before: async ({ objects, uid, isCollection = false }) => {
            assert.equal(uid, objects[0]?.metadata.uid)
            sent.push([objects[0]?.metadata.name ?? '', isCollection])
          },
          after: () => undefined,
        }
        const known = { resource, list: () => api.list(resource) }
        const { signal } = new AbortController()
        await removePlanned(known, { namespace, labelSelector: 'app=x', planned }, api.caches.client, signal)
        const names = resource === cliques ? ['a', 'b'] : ['a-x', 'b-x']
        assert.deepEqual(
          sent,
          names.map(name => [name, false]),
        )
        assert.equal(api.get(resource, 'copy')?.metadata.deletionTimestamp, undefined)
        assert.ok(api.get(resource, 'copy'))
      })

  it('are not deleted under the name of an object that was deleted', async () => {
    const api = new SimulatedApi(new FakeClock())
    makeClique(api, 'a', 'a-x')
    const planned = uidsOf(api.list(cliques))
    api.put(pods, { metadata: { namespace, name: 'copy', labels } })
    const stale = api.list(pods)
    const [pod] = stale
    api.collectsGarbage = false
    for (const _ of ['terminating', 'gone']) api.remove(pods as never, api.get(pods, pod!.metadata.name)!)
    const successor = api.put(pods, { metadata: { namespace, name: pod!.metadata.name, labels } })
    const known = { resource: pods, list: () => stale }
    const { signal } = new AbortController()
    await removePlanned(known, { namespace, labelSelector: 'app=x', planned }, api.caches.client, signal)
    assert.deepEqual(api.get(pods, successor.metadata.name), successor)
  })
})

it('sends no request when no planned object is left', async () => {
  const api = new SimulatedApi(new FakeClock())
  api.put(pods, { metadata: { namespace, name: 'copy', labels } })
  api.hooks = { before: async () => assert.fail(), after: () => undefined }
  const known = { resource: pods, list: () => api.list(pods) }
  const removal = { namespace, labelSelector: 'app=x', planned: new Set(['gone']) }
  await removePlanned(known, removal, api.caches.client, new AbortController().signal)
})
