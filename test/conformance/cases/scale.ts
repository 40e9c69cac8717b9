// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defineWidgets, deployment, widget } from '../objects.ts'
import { chapter, type Ground } from '../suite.ts'

async function scalable({ http, group }: Ground): Promise<string> {
  await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
  return group('apps/v1', 'deployments/d')
}

export const scale = chapter('scale', {
  'the scale of a deployment shows replicas and selector': async ground => {
    const path = await scalable(ground)
    const object = await ground.http.get(path)
    const answer = await ground.http.get(`${path}/scale`)
    assert.equal(answer.at('kind'), 'Scale')
    assert.equal(answer.at('apiVersion'), 'autoscaling/v1')
    assert.equal(answer.at('spec.replicas'), 2)
    assert.deepEqual(answer.at('status'), { replicas: 0, selector: 'app=d' })
    for (const field of ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'])
      assert.equal(answer.at(`metadata.${field}`), object.at(`metadata.${field}`), field)
  },
  'a patch of the scale changes the replicas': async ground => {
    const path = await scalable(ground)
    const patched = await ground.http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })
    assert.equal(patched.status, 200)
    assert.equal(patched.at('spec.replicas'), 5)
    const object = await ground.http.get(path)
    assert.equal(object.at('spec.replicas'), 5)
    assert.equal(object.at('metadata.generation'), 2)
  },
  'an update of the scale changes the replicas': async ground => {
    const path = await scalable(ground)
    const current = await ground.http.get(`${path}/scale`)
    const updated = await ground.http.put(`${path}/scale`, { ...current.object(), spec: { replicas: 3 } })
    assert.equal(updated.status, 200)
    assert.equal((await ground.http.get(path)).at('spec.replicas'), 3)
  },
  'no replicas are shown as none': async ground => {
    const path = await scalable(ground)
    await ground.http.mergePatch(`${path}/scale`, { spec: { replicas: 0 } })
    assert.deepEqual((await ground.http.get(`${path}/scale`)).at('spec'), {})
    assert.equal((await ground.http.get(path)).at('spec.replicas'), 0)
  },
  'replicas cannot be negative': async ground => {
    const refused = await ground.http.mergePatch(`${await scalable(ground)}/scale`, {
      spec: { replicas: -1 },
    })
    assert.equal(refused.status, 422)
    assert.match(
      refused.text('message'),
      /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
    )
  },
  'an update of the scale from an old version is a conflict': async ground => {
    const path = await scalable(ground)
    const current = await ground.http.get(`${path}/scale`)
    await ground.http.mergePatch(path, { metadata: { labels: { a: 'b' } } })
    assert.equal(
      (await ground.http.put(`${path}/scale`, { ...current.object(), spec: { replicas: 3 } })).status,
      409,
    )
  },
  'the scale of what does not exist is not found': async ({ http, group }) => {
    const refused = await http.get(group('apps/v1', 'deployments/nope/scale'))
    assert.equal(refused.status, 404)
    assert.equal(refused.at('message'), 'deployments.apps "nope" not found')
  },
  'a custom kind scales by its paths': async ground => {
    const path = await defineWidgets(ground)
    await ground.http.post(path, widget(ground, 'w', { size: 1, replicas: 2 }))
    await ground.http.mergePatch(`${path}/w/status`, { status: { replicas: 1, selector: 'a=b' } })
    const shown = await ground.http.get(`${path}/w/scale`)
    assert.equal(shown.at('spec.replicas'), 2)
    assert.deepEqual(shown.at('status'), { replicas: 1, selector: 'a=b' })
    const patched = await ground.http.mergePatch(`${path}/w/scale`, { spec: { replicas: 6 } })
    assert.equal(patched.at('spec.replicas'), 6)
    assert.equal((await ground.http.get(`${path}/w`)).at('spec.replicas'), 6)
  },
  'a custom object without replicas has no scale': async ground => {
    const path = await defineWidgets(ground)
    await ground.http.post(path, widget(ground, 'w', { size: 1 }))
    const refused = await ground.http.get(`${path}/w/scale`)
    assert.equal(refused.status, 500)
    assert.equal(
      refused.at('message'),
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    )
  },
})
