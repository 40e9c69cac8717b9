// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

async function made({ http, group }: Fixture): Promise<string> {
  await http.post(group('apps/v1', 'deployments'), deployment('d'))
  return group('apps/v1', 'deployments/d')
}

export const status = chapter('generation and status', {
  'a new object has generation 1': async fixture => {
    assert.equal((await fixture.http.get(await made(fixture))).at('metadata.generation'), 1)
  },
  'a change of the spec increments the generation': async fixture => {
    const path = await made(fixture)
    assert.equal(
      (await fixture.http.mergePatch(path, { spec: { replicas: 1 } })).at('metadata.generation'),
      2,
    )
    assert.equal(
      (await fixture.http.mergePatch(path, { spec: { replicas: 1 } })).at('metadata.generation'),
      2,
    )
    assert.equal(
      (await fixture.http.mergePatch(path, { spec: { replicas: 0 } })).at('metadata.generation'),
      3,
    )
  },
  'a change of labels does not increment the generation': async fixture => {
    const path = await made(fixture)
    assert.equal(
      (await fixture.http.mergePatch(path, { metadata: { labels: { a: 'b' } } })).at('metadata.generation'),
      1,
    )
  },
  'a change of the status does not increment the generation': async fixture => {
    const path = await made(fixture)
    const patched = await fixture.http.mergePatch(`${path}/status`, {
      status: { observedGeneration: 1, replicas: 3 },
    })
    assert.equal(patched.status, 200)
    assert.equal(patched.at('metadata.generation'), 1)
    assert.equal(patched.at('status.replicas'), 3)
  },
  'an update cannot set the generation': async fixture => {
    const path = await made(fixture)
    assert.equal(
      (await fixture.http.mergePatch(path, { metadata: { generation: 9 } })).at('metadata.generation'),
      1,
    )
  },
  'config maps have no generation': async ({ http, core }) => {
    assert.equal((await http.post(core('configmaps'), configMap('a'))).at('metadata.generation'), undefined)
  },
  'pods have a generation': async ({ http, core }) => {
    assert.equal((await http.post(core('pods'), pod('p'))).at('metadata.generation'), 1)
    assert.equal(
      (await http.mergePatch(core('pods/p'), { spec: { activeDeadlineSeconds: 5 } })).at(
        'metadata.generation',
      ),
      2,
    )
  },
  'ignores the status in a create request': async ({ http, group }) => {
    const response = await http.post(group('apps/v1', 'deployments'), {
      ...deployment('d'),
      status: { replicas: 7 },
    })
    assert.deepEqual(response.at('status'), {})
  },
  'ignores the status in an update': async fixture => {
    const path = await made(fixture)
    const before = await fixture.http.get(path)
    const updated = await fixture.http.put(path, { ...before.object(), status: { replicas: 7 } })
    assert.deepEqual(updated.at('status'), {})
  },
  'ignores the spec in a status update': async fixture => {
    const path = await made(fixture)
    const before = await fixture.http.get(path)
    const updated = await fixture.http.put(`${path}/status`, {
      ...before.object(),
      spec: { ...(before.at('spec') as object), replicas: 9 },
      status: { replicas: 2 },
    })
    assert.equal(updated.status, 200)
    assert.equal(updated.at('spec.replicas'), 0)
    assert.equal(updated.at('status.replicas'), 2)
  },
  'the status subresource returns the complete object': async fixture => {
    const path = await made(fixture)
    assert.deepEqual((await fixture.http.get(`${path}/status`)).body, (await fixture.http.get(path)).body)
  },
  'a status update from an old version is a conflict': async fixture => {
    const path = await made(fixture)
    const before = await fixture.http.get(path)
    await fixture.http.mergePatch(path, { spec: { replicas: 1 } })
    assert.equal(
      (await fixture.http.put(`${path}/status`, { ...before.object(), status: { replicas: 2 } })).status,
      409,
    )
  },
  'a strategic merge patch merges pod conditions by type': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const one = await http.strategicPatch(core('pods/p/status'), {
      status: { conditions: [{ type: 'Ready', status: 'False' }] },
    })
    assert.equal(one.status, 200)
    const two = await http.strategicPatch(core('pods/p/status'), {
      status: { conditions: [{ type: 'Other', status: 'True' }] },
    })
    assert.deepEqual((two.at('status.conditions') as { type: string }[]).map(({ type }) => type).sort(), [
      'Other',
      'Ready',
    ])
  },
  'a kind without a status has no status subresource': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    assert.equal((await http.get(core('configmaps/a/status'))).status, 404)
  },
  'a status cannot be deleted': async fixture => {
    assert.equal((await fixture.http.delete(`${await made(fixture)}/status`)).status, 405)
  },
})
