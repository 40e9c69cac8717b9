// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCluster } from '../../cluster.ts'
import type { Service } from '../../schema/types.generated.ts'

function setUp() {
  const cluster = createCluster({ seed: 1 })
  const send = async (method: string, name: string, nodePort?: number) => {
    const { status, body = '' } = await cluster.handle({
      method,
      path: `/api/v1/namespaces/default/services${method === 'PUT' ? `/${name}` : ''}`,
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify({
        metadata: { name },
        spec: { type: 'NodePort', ports: [{ port: 80, ...(nodePort && { nodePort }) }] },
      }),
      user: { name: 'test', groups: [] },
    })
    const response = JSON.parse(body) as Service & { message?: string }
    return { status, message: response.message, port: response.spec?.ports?.[0]?.nodePort }
  }
  return {
    create: (name: string, port?: number) => send('POST', name, port),
    put: send.bind(undefined, 'PUT'),
  }
}

describe('node ports', () => {
  it('are allocated from the range, or as requested', async () => {
    const { create } = setUp()
    const { port = 0 } = await create('any')
    assert.ok(port >= 30_000 && port <= 32_767)
    assert.equal((await create('mine', 30_123)).port, 30_123)
  })

  it('belong to one Service, which keeps them in an update', async () => {
    const { create, put } = setUp()
    await create('one', 30_123)
    assert.deepEqual(await create('two', 30_123), {
      status: 422,
      message:
        'Service "two" is invalid: spec.ports[0].nodePort: Invalid value: 30123: provided port is already allocated',
      port: undefined,
    })
    assert.equal((await put('one', 30_123)).port, 30_123)
    assert.equal((await put('one')).port, 30_123)
    assert.equal((await put('one', 30_124)).port, 30_124)
    assert.equal((await create('two', 30_123)).port, 30_123)
  })

  it('outside the range are rejected', async () => {
    const { create } = setUp()
    const { status, message } = await create('one', 80)
    assert.equal(status, 422)
    assert.match(message ?? '', /not in the valid range\. The range of valid ports is 30000-32767$/)
  })
})
