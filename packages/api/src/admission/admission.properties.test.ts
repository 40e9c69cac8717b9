// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { clique, configurationWith, sampleCluster, sampleSet } from '../testing/sample-sets.ts'
import { type AdmissionRequest, admit } from './review.ts'

const contexts = [
  {},
  { topology: true, mnnvl: true, schedulers: ['kai-scheduler'] },
  { topology: true, schedulers: ['volcano'] },
].map(settings => ({ configuration: configurationWith(settings), cluster: sampleCluster }))

/** Asserts that admission returns a complete response for the request. */
function assertResponse(request: AdmissionRequest): void {
  for (const context of contexts) {
    const response = admit(request, context)
    assert.equal(typeof response.allowed, 'boolean')
    if (response.allowed) assert.ok(response.code < 300 && response.message === undefined)
    else assert.ok(response.code >= 400 && typeof response.message === 'string' && response.message !== '')
    JSON.stringify(response)
  }
}

const cpuMetric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }

/** A set that uses every part of the API. */
const rich = {
  ...sampleSet(
    {
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      topologyConstraint: { topologyName: 'site', pack: { required: 'zone', preferred: 'rack' } },
      resourceClaimTemplates: [
        { name: 'inner', templateSpec: { spec: { devices: { requests: [{ name: 'gpu' }] } } } },
      ],
      resourceSharing: [{ name: 'inner', scope: 'AllReplicas', filter: { childCliqueNames: ['a'] } }],
      cliques: [
        clique('a', { autoScalingConfig: { maxReplicas: 5, metrics: [cpuMetric] } }),
        clique(
          'b',
          {
            startsAfter: ['a'],
            podSpec: {
              containers: [
                {
                  name: 'main',
                  image: 'i',
                  env: [{ name: 'A', value: 'b' }],
                  resources: { limits: { cpu: '500m', 'nvidia.com/gpu': 8 } },
                  ports: [{ containerPort: 80 }],
                },
              ],
              initContainers: [{ name: 'init', image: 'i' }],
              volumes: [{ name: 'v', emptyDir: {} }],
            },
          },
          {
            labels: { a: 'b' },
            annotations: { 'grove.io/mnnvl-group': 'g' },
            topologyConstraint: { pack: { required: 'rack' } },
          },
        ),
      ],
      podCliqueScalingGroups: [
        { name: 'g', cliqueNames: ['b'], replicas: 2, minAvailable: 1, scaleConfig: { maxReplicas: 4 } },
      ],
    },
    { labels: { 'kai.scheduler/queue': 'q' }, annotations: { 'scheduling.grove.io/volcano-queue': 'batch' } },
  ),
}

/** Values that are likely to break a program. */
const strange = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    '\0',
    '..',
    '__proto__',
    'constructor',
    true,
    0,
    -1,
    1.5,
    2 ** 31,
    1e21,
    NaN,
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    [null],
    [[]],
    { a: null },
    ['a', 'a'],
    { __proto__: null },
    'a'.repeat(300),
  ),
  fc.json().map(text => JSON.parse(text) as unknown),
)

type Container = Record<string, unknown>

/** Every position of a value, as its container and key. */
function places(value: unknown, found: [Container, string][] = []): [Container, string][] {
  if (typeof value !== 'object' || value === null) return found
  for (const key of Object.keys(value)) {
    found.push([value as Container, key])
    places((value as Container)[key], found)
  }
  return found
}

/** The value with some positions replaced, removed or duplicated. */
const mutated = (original: object, maximum = 4): fc.Arbitrary<object> => {
  const count = places(original).length
  const change = fc.record({
    place: fc.nat(count - 1),
    action: fc.constantFrom('replace', 'remove', 'double'),
    value: strange,
  })
  return fc.array(change, { minLength: 1, maxLength: maximum }).map(changes => {
    const copy = structuredClone(original)
    for (const { place, action, value } of changes) {
      const all = places(copy)
      const [container, key] = all[place % all.length]!
      if (action === 'remove') delete container[key]
      else if (action === 'replace') container[key] = structuredClone(value)
      else if (Array.isArray(container)) container.push(structuredClone(container[key as `${number}`]))
      if (Array.isArray(container))
        container.splice(0, container.length, ...container.filter((_, index) => index in container))
    }
    return copy
  })
}

const runs = { numRuns: 1000 }

describe('admission returns a complete response', () => {
  test('the base of these properties is accepted if the configuration supports it', () => {
    assert.equal(
      admit({ operation: 'CREATE', kind: 'PodCliqueSet', object: rich }, contexts[1]!).message,
      undefined,
    )
  })

  test('for arbitrary JSON', () => {
    const kinds = fc.constantFrom('PodCliqueSet', 'ClusterTopologyBinding')
    const operations = fc.constantFrom('CREATE', 'UPDATE')
    fc.assert(
      fc.property(kinds, operations, strange, strange, (kind, operation, object, oldObject) => {
        assertResponse({ kind, operation, object, oldObject })
        assertResponse({
          kind,
          operation,
          object: { metadata: object, spec: oldObject },
          oldObject: { spec: object },
        })
      }),
      runs,
    )
  })

  test('for a new set with mistakes', () => {
    fc.assert(
      fc.property(mutated(rich), object =>
        assertResponse({ operation: 'CREATE', kind: 'PodCliqueSet', object }),
      ),
      runs,
    )
  })

  test('for an update with mistakes, also if the stored set has mistakes', () => {
    fc.assert(
      fc.property(mutated(rich), mutated(rich), (object, oldObject) => {
        assertResponse({ operation: 'UPDATE', kind: 'PodCliqueSet', object, oldObject: rich })
        assertResponse({ operation: 'UPDATE', kind: 'PodCliqueSet', object, oldObject })
      }),
      runs,
    )
  })

  test('for a set that it has just accepted, and does not change it', () => {
    let accepted = 0
    fc.assert(
      fc.property(mutated(rich, 1), object => {
        for (const context of contexts) {
          const first = admit({ operation: 'CREATE', kind: 'PodCliqueSet', object }, context)
          if (!first.allowed) continue
          accepted++
          const again = admit({ operation: 'CREATE', kind: 'PodCliqueSet', object: first.object }, context)
          assert.deepEqual(again.object, first.object)
          const change = {
            operation: 'UPDATE',
            kind: 'PodCliqueSet',
            object: first.object,
            oldObject: first.object,
          }
          assert.deepEqual(admit(change, context).object, first.object)
        }
      }),
      runs,
    )
    assert.ok(accepted > 20, `only ${accepted} were accepted`)
  })
})
