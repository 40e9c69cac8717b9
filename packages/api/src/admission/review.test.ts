// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configurationWith, type Settings, sampleCluster } from '../testing/sample-sets.ts'
import type { PodCliqueSet } from '../types/index.ts'
import type { AdmissionResponse } from './response.ts'
import { type AdmissionRequest, admit } from './review.ts'

const pod = { containers: [{ name: 'main', image: 'example.com/main:1' }] }

function manifest(template: object = {}, metadata: object = { name: 'demo' }): Record<string, unknown> {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata,
    spec: { template: { cliques: [{ name: 'web', spec: { podSpec: pod, replicas: 2 } }], ...template } },
  }
}

function binding(spec: unknown, metadata: object = { name: 'site' }): Record<string, unknown> {
  return { apiVersion: 'grove.io/v1alpha1', kind: 'ClusterTopologyBinding', metadata, spec }
}

function ask(request: Partial<AdmissionRequest>, settings: Settings = {}): AdmissionResponse {
  return admit(
    { operation: 'CREATE', kind: 'PodCliqueSet', ...request },
    { configuration: configurationWith(settings), cluster: sampleCluster },
  )
}

const create = (object: unknown, settings: Settings = {}): AdmissionResponse => ask({ object }, settings)
const update = (object: unknown, oldObject: unknown, settings: Settings = {}): AdmissionResponse =>
  ask({ operation: 'UPDATE', object, oldObject }, settings)

/** The stored form: the result of an accepted create. */
function stored(object: object, settings: Settings = {}): object {
  const response = create(object, settings)
  assert.ok(response.allowed, response.message)
  return response.object as object
}

describe('a new PodCliqueSet', () => {
  test('is stored with the defaults of schema and webhook, without unknown fields', () => {
    assert.deepEqual(
      create(manifest({ colour: 'blue', podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['web'] }] })),
      {
        allowed: true,
        code: 201,
        warnings: ['unknown field "spec.template.colour"'],
        object: {
          apiVersion: 'grove.io/v1alpha1',
          kind: 'PodCliqueSet',
          metadata: { name: 'demo', namespace: 'default' },
          spec: {
            replicas: 0,
            template: {
              cliqueStartupType: 'CliqueStartupTypeAnyOrder',
              terminationDelay: '4h0m0s',
              headlessServiceConfig: { publishNotReadyAddresses: true },
              cliques: [
                {
                  name: 'web',
                  spec: {
                    roleName: '',
                    replicas: 2,
                    minAvailable: 2,
                    podSpec: { ...pod, restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
                  },
                },
              ],
              podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['web'], replicas: 1, minAvailable: 1 }],
            },
          },
        },
      },
    )
  })

  test('is not modified in place', () => {
    const object = manifest({ colour: 'blue' }, { name: 'demo', uid: 'x' })
    const before = structuredClone(object)
    create(object)
    assert.deepEqual(object, before)
  })

  test('loses fields that only the API server writes, and its status', () => {
    const metadata = {
      name: 'demo',
      uid: 'u',
      resourceVersion: '3',
      generation: -1,
      managedFields: [{}],
      labels: { a: 'b' },
    }
    const object = stored({ ...manifest({}, metadata), status: { replicas: 3 } })
    assert.deepEqual(object, {
      ...stored(manifest()),
      metadata: { name: 'demo', namespace: 'default', labels: { a: 'b' } },
    })
  })

  test('gets the namespace of the request', () => {
    const response = ask({ object: manifest(), namespace: 'team' })
    assert.deepEqual((response.object as { metadata: object }).metadata, { name: 'demo', namespace: 'team' })
    assert.deepEqual(ask({ object: manifest({}, { name: 'demo', namespace: 'other' }), namespace: 'team' }), {
      allowed: false,
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
      warnings: [],
    })
  })

  test('may use generateName, which counts for the name limits', () => {
    const named = (length: number): AdmissionResponse =>
      create(
        manifest(
          { cliques: [{ name: 'c'.repeat(length), spec: { podSpec: pod } }] },
          { generateName: 'set-' },
        ),
      )
    const response = named(36)
    assert.ok(response.allowed)
    assert.deepEqual((response.object as { metadata: object }).metadata, {
      generateName: 'set-',
      namespace: 'default',
    })
    assert.match(named(37).message ?? '', /combined resource name length 46/)
  })
})

describe('an updated PodCliqueSet', () => {
  const old = stored(manifest()) as { metadata: object; spec: object }

  test('is compared with the stored one', () => {
    assert.equal(update({ ...old, spec: { ...old.spec, replicas: 4 } }, old).code, 200)
    const cliques = [{ name: 'web', spec: { replicas: 3, minAvailable: 3, podSpec: pod } }]
    assert.equal(
      update(manifest({ cliques }), old).message,
      'spec.template.cliques.spec.minAvailable: Invalid value: 3: field is immutable',
    )
  })

  test('may omit minAvailable, which then stays', () => {
    const response = update(
      manifest({ cliques: [{ name: 'web', spec: { replicas: 3, podSpec: pod } }] }),
      old,
    )
    assert.ok(response.allowed, response.message)
    const { cliques } = (response.object as unknown as PodCliqueSet).spec.template
    assert.equal(cliques[0]!.spec.replicas, 3)
    assert.equal(
      cliques[0]!.spec.minAvailable,
      (old as unknown as PodCliqueSet).spec.template.cliques[0]!.spec.minAvailable,
    )
  })

  test('keeps identity, deletion and status', () => {
    const system = {
      uid: 'u',
      generation: 4,
      creationTimestamp: '2030-01-01T00:00:00Z',
      deletionTimestamp: '2030-01-02T00:00:00Z',
    }
    const status = { replicas: 3, updatedReplicas: 1, availableReplicas: 2 }
    const before = { ...old, metadata: { ...old.metadata, ...system }, status }
    const response = update({ ...manifest(), status: { replicas: 9 } }, before)
    assert.ok(response.allowed, response.message)
    assert.deepEqual((response.object as { metadata: object }).metadata, { ...old.metadata, ...system })
    assert.deepEqual((response.object as { status: object }).status, status)
  })

  test('must have the name of its URL', () => {
    const response = ask({ operation: 'UPDATE', name: 'other', object: manifest(), oldObject: old })
    assert.equal(response.message, 'the name of the object (demo) does not match the name on the URL (other)')
  })

  test('cannot be validated without the stored one', () => {
    assert.equal(update(manifest(), undefined).message, 'an update request requires oldObject')
  })

  test('repairs a stored one that cannot be decoded, if it is valid like a new one', () => {
    const unreadable = manifest({ terminationDelay: 'abc' })
    assert.ok(update(manifest(), unreadable).allowed)
    assert.equal(update(manifest({ terminationDelay: '0s' }), unreadable).code, 403)
    assert.equal(update(unreadable, unreadable).code, 400)
  })

  test('is allowed during deletion even if the stored one cannot be decoded', () => {
    const metadata = { name: 'demo', namespace: 'default', deletionTimestamp: '2030-01-02T00:00:00Z' }
    const unreadable = {
      ...manifest({ terminationDelay: 'abc' }),
      metadata: { ...metadata, finalizers: ['a.b/c'] },
    }
    const response = update({ ...unreadable, metadata }, unreadable)
    assert.ok(response.allowed, response.message)
  })

  test('may keep values that the current schema would reject', () => {
    const broken = manifest({
      cliques: [{ name: 'web', spec: { roleName: 'r', replicas: 1, minAvailable: 1 } }],
    })
    const response = update({ ...broken, metadata: { name: 'demo', labels: { a: 'b' } } }, broken)
    assert.ok(response.allowed, response.message)
    const grown = { ...broken, spec: { ...(broken.spec as object), replicas: 2 } }
    assert.ok(update(grown, broken).allowed)
  })
})

describe('a ClusterTopologyBinding', () => {
  const levels = [{ domain: 'zone', key: 'topology.kubernetes.io/zone' }]
  const validate = (object: unknown, oldObject?: unknown): AdmissionResponse =>
    ask({ kind: 'ClusterTopologyBinding', operation: oldObject ? 'UPDATE' : 'CREATE', object, oldObject })

  test('is validated by schema and rules', () => {
    assert.deepEqual(validate(binding({ levels })), {
      allowed: true,
      code: 201,
      warnings: [],
      object: binding({ levels }),
    })
    assert.equal(validate(binding({ levels }), binding({ levels })).code, 200)
  })

  test('has its types checked by the schema', () => {
    const response = validate(binding({ levels: 'zone' }))
    assert.equal(response.code, 422)
    assert.equal(response.causes?.[0]?.reason, 'FieldValueTypeInvalid')
    assert.equal(validate(binding(undefined)).code, 422)
  })

  test('has its rules', () => {
    assert.equal(
      validate(binding({ levels: [...levels, ...levels] })).message,
      '[spec.levels[1].domain: Duplicate value: "zone", spec.levels[1].key: Duplicate value: "topology.kubernetes.io/zone"]',
    )
  })

  test('has no namespace', () => {
    assert.equal(validate(binding({ levels }, { name: 'site', namespace: 'work' })).code, 400)
  })
})

describe('other requests', () => {
  test('deletion is never validated', () => {
    assert.deepEqual(ask({ operation: 'DELETE' }), { allowed: true, code: 200, warnings: [] })
  })

  test('unknown operations and kinds are errors', () => {
    assert.equal(ask({ operation: 'PATCH' }).message, 'unknown operation "PATCH"')
    assert.equal(ask({ kind: 'Pod' }).code, 400)
  })

  test('a missing object is an error', () => {
    for (const object of [undefined, null, 3, 'x', []]) assert.equal(create(object).code, 400)
  })
})
