// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock, KubeError, type KubeObject, type Resource } from '@grove/kube'
import { removePlanned, uidsOf } from './planned-removal.ts'
import { resources } from './resources.ts'
import { SimulatedApi } from './testing/simulation/api.ts'

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
  'half an answer': { code: 'Malformed' },
}
const final: Record<string, Partial<KubeErrorFields>> = {
  'a 403': { code: 'Forbidden' },
  'a 429': { code: 'TooManyRequests', retryAfterSeconds: 1 },
  'a 503 that names a time': { code: 'ServiceUnavailable', retryAfterSeconds: 1 },
  'nobody listening': { code: 'Network', sent: false },
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

/** Two cliques with a pod each are to go; the first request fails. What was sent and what stays in the end. */
async function outcomeOf(
  resource: Resource<KubeObject>,
  fields: Partial<KubeErrorFields>,
  { isCarriedOut = false, meanwhile = (_api: SimulatedApi): void => {} } = {},
) {
  const api = new SimulatedApi(new FakeClock())
  makeClique(api, 'a', 'a-x')
  makeClique(api, 'b', 'b-x')
  const planned = uidsOf(api.list(cliques))
  const sent: string[] = []
  const failFirst = (isAfter: boolean) => {
    if (sent.length > 1 || isAfter !== isCarriedOut) return
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
  const error: unknown = await removePlanned(resource, removal, api.world, new AbortController().signal).then(
    () => undefined,
    failure => failure,
  )
  const staying = api.list(resource).filter(({ metadata }) => !metadata.deletionTimestamp)
  return { sent, error, staying: staying.map(({ metadata }) => metadata.name) }
}

describe('what is to go, when the answer leaves open whether it went', () => {
  for (const [what, fields] of Object.entries(unclear)) {
    it(`goes one by one when it is still there: ${what}`, async () => {
      assert.deepEqual(await outcomeOf(pods, fields), {
        sent: ['a-x b-x', 'a-x', 'b-x'],
        error: undefined,
        staying: [],
      })
    })

    it(`is not deleted again when it is gone: ${what}`, async () => {
      const { sent, error } = await outcomeOf(cliques, fields, { isCarriedOut: true })
      assert.deepEqual({ sent, error }, { sent: ['a b'], error: undefined })
    })

    it(`leaves alone what has come in its place: ${what}`, async () => {
      const meanwhile = (api: SimulatedApi) => makeClique(api, 'a', 'a-y')
      for (const [resource, sent, staying] of [
        [cliques, ['a b'], ['a']],
        [pods, ['a-x b-x'], ['a-y']],
      ] as const)
        assert.deepEqual(await outcomeOf(resource, fields, { isCarriedOut: true, meanwhile }), {
          sent,
          error: undefined,
          staying,
        })
    })
  }
})

describe('what is to go, when the request surely was not carried out', () => {
  for (const [what, fields] of Object.entries(final))
    it(`is planned afresh by the next pass: ${what}`, async () => {
      const { sent, error, staying } = await outcomeOf(pods, fields)
      assert.deepEqual({ sent, staying }, { sent: ['a-x b-x'], staying: ['a-x', 'b-x'] })
      assert.equal((error as KubeError).code, fields.code)
    })
})
