// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { type AdmissionRequest, type Client, KubeError, systemClock } from '@grove/kube'
import { authorizerHandler } from './handlers.ts'

const operator = 'system:serviceaccount:grove-system:grove-operator'
const collector = 'system:serviceaccount:kube-system:generic-garbage-collector'

describe('the protection of managed objects', () => {
  const asked: string[] = []
  const client = {
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      asked.push(`${namespace}/${name}`)
      if (name === 'gone') throw new KubeError({ code: 'NotFound', message: 'not found' })
      if (name === 'slow') throw new KubeError({ code: 'Timeout', message: 'took too long' })
      const annotations = name === 'open' ? { 'grove.io/disable-managed-resource-protection': 'true' } : {}
      return { metadata: { name, namespace, annotations } }
    },
  } as unknown as Client
  const configuration = {
    ...defaultConfiguration(),
    authorizer: {
      ...defaultConfiguration().authorizer,
      enabled: true,
      exemptServiceAccountUserNames: [collector],
    },
  }
  const handle = authorizerHandler({ client, configuration }, operator)

  async function ask(username: string, set: string, owner?: string) {
    asked.length = 0
    const object = {
      metadata: {
        name: 'demo-0-web',
        namespace: 'work',
        labels: { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': set },
        ...(owner && {
          ownerReferences: [
            { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueSet', name: owner, controller: true },
          ],
        }),
      },
    }
    const request: AdmissionRequest = {
      uid: '1',
      operation: 'UPDATE',
      namespace: 'work',
      kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodClique' },
      resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliques' },
      userInfo: { username },
      object,
      oldObject: object,
    }
    const signal = new AbortController().signal
    const answer = await handle(request, { signal, clock: systemClock } as never)
    return { ...answer, asked: [...asked] }
  }

  test('lets the operator and exempt users pass without asking for their set', async () => {
    for (const username of [operator, collector]) {
      const { allowed, asked: sets } = await ask(username, 'demo')
      assert.equal(allowed, true)
      assert.deepEqual(sets, [], username)
    }
  })

  test('asks for the set of everybody else, and judges by it', async () => {
    const rows: [string, string | undefined, number, string[]][] = [
      ['demo', undefined, 403, ['work/demo']],
      ['open', undefined, 200, ['work/open']],
      ['gone', undefined, 200, ['work/gone']],
      ['slow', undefined, 500, ['work/slow']],
      // The owner is believed before the label.
      ['open', 'demo', 403, ['work/open', 'work/demo']],
    ]
    for (const [set, owner, code, sets] of rows) {
      const answer = await ask('alice', set, owner)
      assert.equal(answer.code, code, `${set} of ${owner}`)
      assert.deepEqual(answer.asked, sets)
    }
  })
})
