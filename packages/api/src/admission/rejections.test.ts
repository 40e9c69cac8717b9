// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configurationWith, type Settings, sampleCluster } from '../testing/sample-sets.ts'
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

function ask(request: Partial<AdmissionRequest>, settings: Settings = {}): AdmissionResponse {
  return admit(
    { operation: 'CREATE', kind: 'PodCliqueSet', ...request },
    { configuration: configurationWith(settings), cluster: sampleCluster },
  )
}

const create = (object: unknown, settings: Settings = {}): AdmissionResponse => ask({ object }, settings)
const update = (object: unknown, oldObject: unknown, settings: Settings = {}): AdmissionResponse =>
  ask({ operation: 'UPDATE', object, oldObject }, settings)

describe('a rejection', () => {
  test('of a value that cannot be decoded has code 400', () => {
    assert.deepEqual(create(manifest({ terminationDelay: 5 })), {
      allowed: false,
      code: 400,
      reason: 'BadRequest',
      message: 'spec.template.terminationDelay: must be a duration such as 30s or 4h, not an integer',
      causes: [
        {
          field: 'spec.template.terminationDelay',
          message: 'must be a duration such as 30s or 4h, not an integer',
          reason: 'FieldValueInvalid',
        },
      ],
      warnings: [],
    })
  })

  test('of several values that cannot be decoded has one cause for each', () => {
    const limits = { 'nvidia.com/gpu': 'eight', memory: 'much' }
    const podSpec = { containers: [{ name: 'main', image: 'example.com/main:1', resources: { limits } }] }
    const response = create(manifest({ cliques: [{ name: 'web', spec: { replicas: 1, podSpec } }] }))
    assert.deepEqual(
      response.causes?.map(cause => cause.field),
      ['nvidia.com/gpu', 'memory'].map(
        key => `spec.template.cliques[0].spec.podSpec.containers[0].resources.limits.${key}`,
      ),
    )
  })

  test('of unknown fields has code 400 with strict validation, and the message of an API server', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u', nme: 'x' }
    const object = {
      ...manifest({ colour: 'red' }, { name: 'demo', label: {}, ownerReferences: [owner] }),
      extra: 1,
    }
    const unknown = ['extra', 'metadata.label', 'metadata.ownerReferences[0].nme', 'spec.template.colour']
    const response = ask({ object, fieldValidation: 'Strict' })
    assert.equal(response.code, 400)
    assert.equal(
      response.message,
      `PodCliqueSet in version "v1alpha1" cannot be handled as a PodCliqueSet: strict decoding error: ${unknown.map(field => `unknown field "${field}"`).join(', ')}`,
    )
    assert.deepEqual(
      response.causes?.map(cause => cause.field),
      unknown,
    )
    const lenient = create(object)
    assert.ok(lenient.allowed)
    assert.deepEqual(
      lenient.warnings,
      unknown.map(field => `unknown field "${field}"`),
    )
  })

  test('by the schema has code 422, causes, and the message of an API server', () => {
    assert.deepEqual(create(manifest({ topologyConstraint: { pack: { required: 'Rack' } } })), {
      allowed: false,
      code: 422,
      reason: 'Invalid',
      message: `PodCliqueSet.grove.io "demo" is invalid: spec.template.topologyConstraint.pack.required: Invalid value: "Rack": spec.template.topologyConstraint.pack.required in body should match '^[a-z][a-z0-9-]*$'`,
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: `Invalid value: "Rack": spec.template.topologyConstraint.pack.required in body should match '^[a-z][a-z0-9-]*$'`,
          field: 'spec.template.topologyConstraint.pack.required',
        },
      ],
      warnings: [],
    })
  })

  test('of invalid metadata comes from the API server', () => {
    const response = create(manifest({}, { name: 'Demo', labels: { 'a b': 'c' } }))
    assert.equal(response.code, 422)
    assert.deepEqual(
      response.causes?.map(cause => cause.field),
      ['metadata.name', 'metadata.labels'],
    )
  })

  test('of negative replicas contains the scale path', () => {
    const object = manifest()
    const response = create({ ...object, spec: { ...(object.spec as object), replicas: -1 } })
    assert.equal(
      response.message,
      'PodCliqueSet.grove.io "demo" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer',
    )
  })

  test('by a CEL rule distinguishes new objects from stored ones', () => {
    const topologyConstraint = { topologyName: 'site', packDomain: 'rack' }
    const response = create(manifest({ topologyConstraint }), { topology: true })
    assert.equal(
      response.message,
      'PodCliqueSet.grove.io "demo" is invalid: spec.template.topologyConstraint.packDomain: Forbidden: packDomain is deprecated and cannot be used on new workloads; use pack.required',
    )
    const object = manifest({ topologyConstraint, priorityClassName: 'high' })
    assert.equal(update(object, manifest({ topologyConstraint }), { topology: true }).code, 200)
  })

  test('by a rule has code 403, causes and warnings', () => {
    const podSpec = { ...pod, restartPolicy: 'Never' }
    const cliques = [{ name: 'web', spec: { replicas: 1, minAvailable: 2, podSpec } }]
    const message = 'minAvailable must not be greater than replicas'
    assert.deepEqual(create(manifest({ cliques, terminationDelay: '0s' })), {
      allowed: false,
      code: 403,
      reason: 'Forbidden',
      message: `[spec.template.cliques[0].spec.minAvailable: Invalid value: 2: ${message}, spec.template.terminationDelay: Invalid value: "0s": terminationDelay must be greater than 0]`,
      causes: [
        {
          field: 'spec.template.cliques[0].spec.minAvailable',
          message: `Invalid value: 2: ${message}`,
          reason: 'FieldValueInvalid',
        },
        {
          field: 'spec.template.terminationDelay',
          message: 'Invalid value: "0s": terminationDelay must be greater than 0',
          reason: 'FieldValueInvalid',
        },
      ],
      warnings: ['restartPolicy will be ignored, it will be set to Always'],
    })
  })

  test('of a set without cliques names them, whatever else is missing', () => {
    const { spec: _absent, ...bare } = manifest()
    for (const object of [
      bare,
      { ...bare, spec: {} },
      { ...bare, spec: { template: null } },
      manifest({ cliques: [] }),
    ]) {
      const response = create(object)
      assert.equal(response.code, 403)
      assert.equal(
        response.message,
        'spec.template.cliques: Required value: at least one PodClique must be defined',
      )
    }
  })

  test('does not repeat megabytes of input', () => {
    const long = 'x'.repeat(1_000_000)
    for (const object of [
      manifest({}, { name: long }),
      manifest({ cliques: [{ name: long, spec: { podSpec: pod } }] }),
      manifest({ terminationDelay: long }),
    ]) {
      const response = create(object)
      assert.equal(response.allowed, false)
      assert.ok((response.message ?? '').length < 100_000, `${response.message?.length}`)
      assert.match(response.message ?? '', /cut: 1\d{6} characters in all/)
    }
  })

  test('lists a bounded number of many errors', () => {
    const labels = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`bad ${index}`, '']))
    const response = create(manifest({ cliques: [{ name: 'web', labels, spec: { podSpec: pod } }] }))
    const { causes = [], message = '' } = response
    const shown = causes.length - 1
    assert.ok(shown > 100 && shown <= 500, `${shown} errors are shown`)
    assert.equal(causes.at(-1)?.message, `Invalid value: and ${2000 - shown} more errors`)
    assert.ok(message.endsWith(`and ${2000 - shown} more errors]`))
    assert.ok(message.length < 70_000, `${message.length}`)
  })
})
