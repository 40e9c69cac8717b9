// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defineWidgets, deployment, widget } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

async function scalable({ http, group }: Fixture): Promise<string> {
  await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 2 }))
  return group('apps/v1', 'deployments/d')
}

export const scale = chapter('scale', {
  'the scale of a deployment shows replicas and selector': async fixture => {
    const path = await scalable(fixture)
    const object = await fixture.http.get(path)
    const response = await fixture.http.get(`${path}/scale`)
    assert.equal(response.at('kind'), 'Scale')
    assert.equal(response.at('apiVersion'), 'autoscaling/v1')
    assert.equal(response.at('spec.replicas'), 2)
    assert.deepEqual(response.at('status'), { replicas: 0, selector: 'app=d' })
    for (const field of ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'])
      assert.equal(response.at(`metadata.${field}`), object.at(`metadata.${field}`), field)
  },
  'a patch of the scale changes the replicas': async fixture => {
    const path = await scalable(fixture)
    const patched = await fixture.http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } })
    assert.equal(patched.status, 200)
    assert.equal(patched.at('spec.replicas'), 5)
    const object = await fixture.http.get(path)
    assert.equal(object.at('spec.replicas'), 5)
    assert.equal(object.at('metadata.generation'), 2)
  },
  'an update of the scale changes the replicas': async fixture => {
    const path = await scalable(fixture)
    const current = await fixture.http.get(`${path}/scale`)
    const updated = await fixture.http.put(`${path}/scale`, { ...current.object(), spec: { replicas: 3 } })
    assert.equal(updated.status, 200)
    assert.equal((await fixture.http.get(path)).at('spec.replicas'), 3)
  },
  'zero replicas are omitted': async fixture => {
    const path = await scalable(fixture)
    await fixture.http.mergePatch(`${path}/scale`, { spec: { replicas: 0 } })
    assert.deepEqual((await fixture.http.get(`${path}/scale`)).at('spec'), {})
    assert.equal((await fixture.http.get(path)).at('spec.replicas'), 0)
  },
  'replicas cannot be negative': async fixture => {
    const rejected = await fixture.http.mergePatch(`${await scalable(fixture)}/scale`, {
      spec: { replicas: -1 },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
    )
  },
  'an update of the scale from an old version is a conflict': async fixture => {
    const path = await scalable(fixture)
    const current = await fixture.http.get(`${path}/scale`)
    await fixture.http.mergePatch(path, { metadata: { labels: { a: 'b' } } })
    assert.equal(
      (await fixture.http.put(`${path}/scale`, { ...current.object(), spec: { replicas: 3 } })).status,
      409,
    )
  },
  'the scale of an object that does not exist returns 404': async ({ http, group }) => {
    const rejected = await http.get(group('apps/v1', 'deployments/nope/scale'))
    assert.equal(rejected.status, 404)
    assert.equal(rejected.at('message'), 'deployments.apps "nope" not found')
  },
  'a custom resource scales by the paths of its definition': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w', { size: 1, replicas: 2 }))
    await fixture.http.mergePatch(`${path}/w/status`, { status: { replicas: 1, selector: 'a=b' } })
    const shown = await fixture.http.get(`${path}/w/scale`)
    assert.equal(shown.at('spec.replicas'), 2)
    assert.deepEqual(shown.at('status'), { replicas: 1, selector: 'a=b' })
    const patched = await fixture.http.mergePatch(`${path}/w/scale`, { spec: { replicas: 6 } })
    assert.equal(patched.at('spec.replicas'), 6)
    assert.equal((await fixture.http.get(`${path}/w`)).at('spec.replicas'), 6)
  },
  'a custom object without replicas has no scale': async fixture => {
    const path = await defineWidgets(fixture)
    await fixture.http.post(path, widget(fixture, 'w', { size: 1 }))
    const rejected = await fixture.http.get(`${path}/w/scale`)
    assert.equal(rejected.status, 500)
    assert.equal(
      rejected.at('message'),
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    )
  },
})
