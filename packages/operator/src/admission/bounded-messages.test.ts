// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration, messageLimits } from '@grove/api'
import type { AdmissionRequest, Client } from '@grove/kube'
import { validatingHandler } from './handlers.ts'

/** These sets name neither a topology nor a queue, so admission looks up nothing in the cluster. */
const client = {} as Client
const handle = validatingHandler({ client, configuration: defaultConfiguration() })

async function create(cliques: unknown[], template: object = {}) {
  const request: AdmissionRequest = {
    uid: '1',
    operation: 'CREATE',
    namespace: 'work',
    kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet' },
    resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliquesets' },
    userInfo: { username: 'alice' },
    object: {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      metadata: { name: 'demo', namespace: 'work' },
      spec: {
        replicas: 1,
        template: {
          cliques,
          cliqueStartupType: 'CliqueStartupTypeAnyOrder',
          terminationDelay: '4h',
          ...template,
        },
      },
    },
  }
  return handle(request, { signal: new AbortController().signal } as never)
}

const cliqueOf = (name: string, rest: object = {}) => ({
  name,
  ...rest,
  spec: { roleName: name, replicas: 1, minAvailable: 1, podSpec: { containers: [{ name: 'main' }] } },
})

describe('a rejection message of megabytes', () => {
  test('quotes the beginning of a long value, and states its length', async () => {
    const { allowed, message = '' } = await create([cliqueOf('x'.repeat(2_000_000))])
    assert.equal(allowed, false)
    assert.ok(message.length <= messageLimits.message + 100, `${message.length} characters`)
    assert.match(message, /^\[spec\.template\.cliques\[0\]\.name: Invalid value: "x{10240}…/)
    assert.match(message, /cut: 2000000 characters in all/)
  })

  test('states how many errors were left out', async () => {
    const labels = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`bad key ${index}`, '']))
    const { allowed, message = '' } = await create([cliqueOf('web', { labels })])
    assert.equal(allowed, false)
    assert.ok(message.length <= messageLimits.message, `${message.length} characters`)
    const [, more] = /and (\d+) more errors\]$/.exec(message) ?? []
    const shown = message.split('Invalid value: "bad key').length - 1
    assert.equal(shown + Number(more), 50_000)
  })

  test('for an object that cannot be decoded is bounded as well', async () => {
    const { allowed, message = '' } = await create([cliqueOf('web')], {
      terminationDelay: 'x'.repeat(2_000_000),
    })
    assert.equal(allowed, false)
    assert.ok(message.length <= messageLimits.message, `${message.length} characters`)
    assert.match(message, /^spec\.template\.terminationDelay: time: invalid duration "x+… \(cut: /)
  })
})
