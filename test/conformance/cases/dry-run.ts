// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, pod } from '../objects.ts'
import { chapter } from '../suite.ts'

const dry = { query: { dryRun: 'All' } }

export const dryRun = chapter('dry run', {
  'a dry-run create returns the object and stores nothing': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'), dry)
    assert.equal(made.status, 201)
    assert.equal(typeof made.at('metadata.uid'), 'string')
    assert.equal(made.at('metadata.resourceVersion'), undefined)
    assert.equal((await http.get(core('configmaps/a'))).status, 404)
  },
  'a dry-run create is validated like any other create': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    assert.equal((await http.post(core('configmaps'), configMap('a'), dry)).status, 409)
    assert.equal((await http.post(core('configmaps'), configMap('Bad'), dry)).status, 422)
  },
  'a dry-run create returns defaults': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('p'), dry)
    assert.equal(made.at('spec.restartPolicy'), 'Always')
    assert.equal(made.at('status.phase'), 'Pending')
  },
  'a dry-run update stores nothing': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const updated = await http.put(core('configmaps/a'), { ...made.object(), data: { key: 'dry' } }, dry)
    assert.equal(updated.status, 200)
    assert.equal(updated.at('data.key'), 'dry')
    assert.equal(updated.at('metadata.resourceVersion'), made.at('metadata.resourceVersion'))
    assert.equal((await http.get(core('configmaps/a'))).at('data.key'), 'value')
  },
  'a dry-run patch stores nothing': async ({ http, group }) => {
    const path = group('apps/v1', 'deployments')
    await http.post(path, deployment('d'))
    const patched = await http.mergePatch(`${path}/d`, { spec: { replicas: 4 } }, dry)
    assert.equal(patched.at('spec.replicas'), 4)
    assert.equal(patched.at('metadata.generation'), 2)
    assert.equal((await http.get(`${path}/d`)).at('spec.replicas'), 0)
  },
  'a dry-run delete deletes nothing': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(core('configmaps/a'), undefined, dry)
    assert.equal(deleted.status, 200)
    assert.equal(deleted.at('status'), 'Success')
    assert.equal((await http.get(core('configmaps/a'))).status, 200)
  },
  'accepts dryRun in the body of a delete': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    assert.equal((await http.delete(core('configmaps/a'), { dryRun: ['All'] })).status, 200)
    assert.equal((await http.get(core('configmaps/a'))).status, 200)
  },
  'All is the only valid value of dryRun': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a'), { query: { dryRun: 'Some' } })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    )
  },
  'a dry-run deletecollection deletes nothing': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    assert.deepEqual((await http.delete(core('configmaps'), undefined, dry)).names, ['a'])
    assert.deepEqual((await http.get(core('configmaps'))).names, ['a'])
  },
})
