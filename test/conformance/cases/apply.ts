// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, pod } from '../objects.ts'
import { ownerNames, ownersOf } from '../owners.ts'
import { chapter } from '../suite.ts'

export const apply = chapter('server-side apply', {
  'creates an object that does not exist': async ({ http, core }) => {
    const made = await http.apply(core('configmaps/m'), configMap('m', { a: '1' }), 'me')
    assert.equal(made.status, 201)
    assert.deepEqual(ownersOf(made), { 'me Apply': { 'f:data': { 'f:a': {} } } })
    const again = await http.apply(core('configmaps/m'), configMap('m', { a: '1' }), 'me')
    assert.equal(again.status, 200)
    assert.equal(again.at('metadata.resourceVersion'), made.at('metadata.resourceVersion'))
  },
  'accepts YAML': async ({ http, core }) => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: "1"\n'
    const made = await http.apply(core('configmaps/m'), text, 'me')
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('data'), { a: '1' })
  },
  'updates its own fields, and removes fields that are no longer applied': async ({ http, core }) => {
    await http.apply(core('configmaps/m'), configMap('m', { a: '1', b: '2' }, { labels: { l: 'v' } }), 'me')
    const changed = await http.apply(core('configmaps/m'), configMap('m', { a: '9' }), 'me')
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.at('data'), { a: '9' })
    assert.equal(changed.at('metadata.labels'), undefined)
    assert.deepEqual(ownersOf(changed), { 'me Apply': { 'f:data': { 'f:a': {} } } })
  },
  'conflicts with the owners of fields that it would change': async ({ http, core }) => {
    await http.apply(core('configmaps/m'), configMap('m', { a: '1', b: '2' }), 'one')
    const rejected = await http.apply(core('configmaps/m'), configMap('m', { a: '9' }), 'two')
    assert.equal(rejected.status, 409)
    assert.deepEqual(rejected.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      reason: 'Conflict',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
      },
      code: 409,
    })
  },
  'names all conflicts, by owner': async ({ http, core }) => {
    await http.apply(core('configmaps/m'), configMap('m', { a: '1' }), 'one')
    await http.mergePatch(
      core('configmaps/m'),
      { data: { b: '2', c: '3' } },
      { query: { fieldManager: 'two' } },
    )
    const rejected = await http.apply(
      core('configmaps/m'),
      configMap('m', { a: '9', b: '9', c: '9' }),
      'three',
    )
    assert.equal(
      rejected.at('message'),
      'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two" using v1:\n- .data.b\n- .data.c',
    )
    assert.equal((rejected.at('details.causes') as unknown[]).length, 3)
  },
  'takes over fields by force': async ({ http, core }) => {
    await http.apply(core('configmaps/m'), configMap('m', { a: '1', b: '2' }), 'one')
    const forced = await http.apply(core('configmaps/m'), configMap('m', { a: '9' }), 'two', {
      force: 'true',
    })
    assert.equal(forced.status, 200)
    assert.deepEqual(forced.at('data'), { a: '9', b: '2' })
    assert.deepEqual(ownersOf(forced), {
      'one Apply': { 'f:data': { 'f:b': {} } },
      'two Apply': { 'f:data': { 'f:a': {} } },
    })
  },
  'shares fields that two managers apply with the same value, until the last one removes them': async ({
    http,
    core,
  }) => {
    await http.apply(core('configmaps/m'), configMap('m', { a: '1' }), 'one')
    const shared = await http.apply(core('configmaps/m'), configMap('m', { a: '1' }), 'two')
    assert.deepEqual(ownerNames(shared).sort(), ['one Apply', 'two Apply'])
    const left = await http.apply(core('configmaps/m'), configMap('m', {}), 'one')
    assert.deepEqual(left.at('data'), { a: '1' })
    const gone = await http.apply(core('configmaps/m'), configMap('m', {}), 'two')
    assert.equal(gone.at('data'), undefined)
  },
  'does not change fields of other managers': async ({ http, group }) => {
    const path = group('apps/v1', 'deployments/d')
    await http.apply(path, deployment('d', { replicas: 1 }), 'me')
    await http.mergePatch(`${path}/scale`, { spec: { replicas: 5 } }, { query: { fieldManager: 'scaler' } })
    const kept = await http.apply(path, deployment('d', { replicas: undefined }), 'me')
    assert.equal(kept.status, 200)
    assert.equal(kept.at('spec.replicas'), 5)
    const rejected = await http.apply(path, deployment('d', { replicas: 2 }), 'me')
    assert.equal(
      rejected.at('message'),
      'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas',
    )
  },
  'takes over fields of an earlier client-side kubectl apply': async ({ http, core }) => {
    const applied = JSON.stringify(configMap('m', { a: '1' }))
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied }
    await http.post(core('configmaps'), configMap('m', { a: '1' }, { annotations }), {
      query: { fieldManager: 'kubectl-client-side-apply' },
    })
    const other = await http.apply(core('configmaps/m'), configMap('m', { a: '2' }), 'other')
    assert.equal(other.status, 409)
    const taken = await http.apply(core('configmaps/m'), configMap('m', { a: '2' }), 'kubectl')
    assert.equal(taken.status, 200)
    assert.equal(taken.at('data.a'), '2')
  },
  'applies a status': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const status = (phase: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      status: { phase },
    })
    const applied = await http.apply(core('pods/p/status'), status('Running'), 'kubelet')
    assert.equal(applied.status, 200)
    assert.equal(applied.at('status.phase'), 'Running')
    assert.deepEqual(ownersOf(applied)['kubelet Apply status'], { 'f:status': { 'f:phase': {} } })
    const rejected = await http.apply(core('pods/p/status'), status('Failed'), 'other')
    assert.equal(
      rejected.at('message'),
      'Apply failed with 1 conflict: conflict with "kubelet" with subresource "status": .status.phase',
    )
    const missing = await http.apply(core('pods/none/status'), { ...status('Running') }, 'kubelet')
    assert.equal(missing.status, 404)
  },
  'applies a scale': async ({ http, group }) => {
    const path = group('apps/v1', 'deployments/d')
    await http.post(group('apps/v1', 'deployments'), deployment('d'), { query: { fieldManager: 'one' } })
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'd' },
      spec: { replicas: 2 },
    }
    const rejected = await http.apply(`${path}/scale`, scale, 'two')
    assert.equal(rejected.status, 409)
    const forced = await http.apply(`${path}/scale`, scale, 'two', { force: 'true' })
    assert.equal(forced.at('spec.replicas'), 2)
    assert.deepEqual(ownersOf(await http.get(path))['two Apply scale'], { 'f:spec': { 'f:replicas': {} } })
  },
  'stores nothing in a dry run': async ({ http, core }) => {
    const made = await http.apply(core('configmaps/m'), configMap('m'), 'me', { dryRun: 'All' })
    assert.equal(made.status, 201)
    assert.deepEqual(ownerNames(made), ['me Apply'])
    assert.equal((await http.get(core('configmaps/m'))).status, 404)
  },
  'requires a field manager': async ({ http, core }) => {
    const rejected = await http.apply(core('configmaps/m'), configMap('m'), '')
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )
    const forced = await http.mergePatch(core('configmaps/m'), {}, { query: { force: 'true' } })
    assert.equal(forced.status, 422)
    assert.equal(
      forced.at('message'),
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    )
  },
  'rejects a body that is not a configuration of the kind': async ({ http, core }) => {
    const to = (body: unknown) => http.apply(core('configmaps/m'), body, 'me')
    const kind = await to({ ...configMap('m'), kind: 'Secret' })
    assert.equal(kind.status, 400)
    assert.equal(kind.at('message'), 'invalid object type: /v1, Kind=Secret')
    const owned = await to(configMap('m', {}, { managedFields: [{ manager: 'x' }] }))
    assert.equal(owned.status, 400)
    assert.equal(owned.at('message'), 'metadata.managedFields must be nil')
    const unknown = await to({ ...configMap('m'), nonsense: 1 })
    assert.equal(unknown.status, 500)
    assert.equal(
      unknown.at('message'),
      'failed to create typed patch object (/m; /v1, Kind=ConfigMap): .nonsense: field not declared in schema',
    )
    const typed = await to(configMap('m', { a: 1 as unknown as string }))
    assert.equal(typed.status, 500)
    assert.equal((await to('a: b: c')).status, 400)
    assert.equal((await to([])).status, 400)
    const name = await to(configMap('other'))
    assert.equal(name.status, 400)
    assert.equal(name.at('message'), 'the name of the object (other) does not match the name on the URL (m)')
  },
  'validates the object like any other write': async ({ http, core, group }) => {
    const rejected = await http.apply(
      group('apps/v1', 'deployments/d'),
      deployment('d', { replicas: -1 }),
      'me',
    )
    assert.equal(rejected.status, 422)
    const immutable = await http.apply(core('pods/p'), pod('p'), 'me')
    assert.equal(immutable.status, 201)
    const changed = await http.apply(core('pods/p'), pod('p', { restartPolicy: 'Never' }), 'me', {
      force: 'true',
    })
    assert.equal(changed.status, 422)
  },
  'accepts a resourceVersion as precondition': async ({ http, core }) => {
    await http.apply(core('configmaps/m'), configMap('m'), 'me')
    const stale = await http.apply(
      core('configmaps/m'),
      configMap('m', { a: '1' }, { resourceVersion: '1' }),
      'me',
    )
    assert.equal(stale.status, 409)
  },
})
