// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { PodCliqueSet, PodCliqueSetTemplate, PodCliqueSpec } from '../types/index.ts'
import { defaultPodCliqueSet } from './defaulting.ts'

function setOf(template: Partial<PodCliqueSetTemplate>, namespace?: string): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'demo', ...(namespace !== undefined && { namespace }) },
    spec: { template: { cliques: [], ...template } },
  }
}

function defaultedSpec(spec: Partial<PodCliqueSpec>): PodCliqueSpec {
  const given = { roleName: '', replicas: 0, podSpec: { containers: [] }, ...spec }
  return defaultPodCliqueSet(setOf({ cliques: [{ name: 'a', spec: given }] })).spec.template.cliques[0]!.spec
}

describe('the namespace', () => {
  test('is that of the request', () => {
    assert.equal(defaultPodCliqueSet(setOf({}), 'team').metadata.namespace, 'team')
    assert.equal(defaultPodCliqueSet(setOf({}, '  '), 'team').metadata.namespace, 'team')
  })
  test('is "default" if the request has none', () => {
    assert.equal(defaultPodCliqueSet(setOf({})).metadata.namespace, 'default')
  })
  test('stays if set', () => {
    assert.equal(defaultPodCliqueSet(setOf({}, 'own'), 'team').metadata.namespace, 'own')
  })
})

describe('a clique', () => {
  test('has one replica by default', () => {
    assert.equal(defaultedSpec({}).replicas, 1)
    assert.equal(defaultedSpec({ replicas: 3 }).replicas, 3)
    assert.equal(defaultedSpec({ replicas: -1 }).replicas, -1)
  })

  test('has minAvailable equal to its replicas, after their own default', () => {
    assert.equal(defaultedSpec({ replicas: 3 }).minAvailable, 3)
    assert.equal(defaultedSpec({ replicas: 0 }).minAvailable, 1)
    assert.equal(defaultedSpec({ replicas: 3, minAvailable: 0 }).minAvailable, 0)
  })

  test('has minReplicas of its autoscaler equal to its replicas', () => {
    const bounds = { maxReplicas: 9 }
    assert.deepEqual(defaultedSpec({ replicas: 3, autoScalingConfig: bounds }).autoScalingConfig, {
      minReplicas: 3,
      maxReplicas: 9,
    })
    assert.equal(defaultedSpec({ replicas: 0, autoScalingConfig: bounds }).autoScalingConfig?.minReplicas, 1)
    assert.equal(
      defaultedSpec({ replicas: 3, autoScalingConfig: { ...bounds, minReplicas: 1 } }).autoScalingConfig
        ?.minReplicas,
      1,
    )
    assert.equal(defaultedSpec({}).autoScalingConfig, undefined)
  })

  test('gets restart policy Always and a grace period of 30 seconds', () => {
    const podOf = (podSpec: object) => defaultedSpec({ podSpec: { containers: [], ...podSpec } }).podSpec
    assert.deepEqual(podOf({}), {
      containers: [],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
    })
    assert.equal(podOf({ restartPolicy: ' ' }).restartPolicy, 'Always')
    assert.equal(podOf({ restartPolicy: '\u0085' }).restartPolicy, 'Always')
    assert.equal(podOf({ restartPolicy: '\ufeff' }).restartPolicy, '\ufeff')
    assert.equal(podOf({ restartPolicy: 'Never' }).restartPolicy, 'Never')
    assert.equal(podOf({ terminationGracePeriodSeconds: 0 }).terminationGracePeriodSeconds, 0)
  })
})

test('a scaling group has minReplicas of its autoscaler equal to its replicas', () => {
  const minReplicas = (scaleConfig: object): number | undefined =>
    defaultPodCliqueSet(
      setOf({
        podCliqueScalingGroups: [
          { name: 'g', cliqueNames: [], replicas: 4, scaleConfig: { maxReplicas: 9, ...scaleConfig } },
        ],
      }),
    ).spec.template.podCliqueScalingGroups?.[0]?.scaleConfig?.minReplicas
  assert.equal(minReplicas({}), 4)
  assert.equal(minReplicas({ minReplicas: 0 }), 0)
})

describe('the set', () => {
  test('gets a termination delay of four hours', () => {
    assert.equal(defaultPodCliqueSet(setOf({})).spec.template.terminationDelay, '4h0m0s')
    assert.equal(defaultPodCliqueSet(setOf({ terminationDelay: '0s' })).spec.template.terminationDelay, '0s')
  })

  test('publishes addresses of pods that are not ready', () => {
    const configOf = (template: object) =>
      defaultPodCliqueSet(setOf(template)).spec.template.headlessServiceConfig
    assert.deepEqual(configOf({}), { publishNotReadyAddresses: true })
    const off = { publishNotReadyAddresses: false }
    assert.deepEqual(configOf({ headlessServiceConfig: off }), off)
  })

  test('gets no other default', () => {
    assert.deepEqual(defaultPodCliqueSet(setOf({}, 'work')), {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      metadata: { name: 'demo', namespace: 'work' },
      spec: {
        template: {
          cliques: [],
          terminationDelay: '4h0m0s',
          headlessServiceConfig: { publishNotReadyAddresses: true },
        },
      },
    })
  })
})

describe('defaulting', () => {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const cliques = fc.array(
    fc.record({
      replicas: fc.integer({ min: -2, max: 4 }),
      minAvailable: optional(fc.integer({ min: -2, max: 4 })),
      minReplicas: optional(fc.integer({ min: -2, max: 4 })),
      scaled: fc.boolean(),
      restartPolicy: optional(fc.constantFrom('', ' ', 'Always', 'Never')),
    }),
  )
  const sets = fc.record({ cliques, terminationDelay: optional(fc.constantFrom('1h', '0s')) }).map(given =>
    setOf({
      ...(given.terminationDelay && { terminationDelay: given.terminationDelay }),
      cliques: given.cliques.map((one, index) => ({
        name: `c${index}`,
        spec: {
          roleName: '',
          replicas: one.replicas,
          ...(one.minAvailable !== undefined && { minAvailable: one.minAvailable }),
          ...(one.scaled && {
            autoScalingConfig: {
              maxReplicas: 5,
              ...(one.minReplicas !== undefined && { minReplicas: one.minReplicas }),
            },
          }),
          podSpec: {
            containers: [],
            ...(one.restartPolicy !== undefined && { restartPolicy: one.restartPolicy }),
          },
        },
      })),
    }),
  )

  test('is idempotent and does not change its argument', () => {
    fc.assert(
      fc.property(sets, set => {
        const before = structuredClone(set)
        const once = defaultPodCliqueSet(set, 'work')
        assert.deepEqual(set, before)
        assert.deepEqual(defaultPodCliqueSet(once, 'elsewhere'), once)
      }),
      { numRuns: 500 },
    )
  })
})

describe('an update', () => {
  const clique = (spec: Partial<PodCliqueSpec>) =>
    setOf({
      cliques: [{ name: 'a', spec: { roleName: '', replicas: 2, podSpec: { containers: [] }, ...spec } }],
    })
  const updated = (given: Partial<PodCliqueSpec>, stored: Partial<PodCliqueSpec>) =>
    defaultPodCliqueSet(clique(given), 'team', clique(stored)).spec.template.cliques[0]!.spec

  test('keeps the stored minAvailable if it sets none', () => {
    assert.equal(updated({ replicas: 6 }, { minAvailable: 2 }).minAvailable, 2)
    assert.equal(updated({ replicas: 6, minAvailable: 5 }, { minAvailable: 2 }).minAvailable, 5)
    assert.equal(updated({ replicas: 6 }, {}).minAvailable, 6)
  })

  test('keeps the stored minReplicas of an autoscaler only if the rest of it is unchanged', () => {
    const bound = (maxReplicas: number) =>
      updated(
        { replicas: 6, autoScalingConfig: { maxReplicas } },
        { minAvailable: 2, autoScalingConfig: { minReplicas: 2, maxReplicas: 9 } },
      ).autoScalingConfig?.minReplicas
    assert.equal(bound(9), 2)
    assert.equal(bound(8), 6)
  })

  test('keeps the stored minReplicas of a scaling group in the same way', () => {
    const group = (minReplicas?: number) =>
      setOf({
        podCliqueScalingGroups: [
          {
            name: 'g',
            cliqueNames: ['a'],
            replicas: 3,
            scaleConfig: { maxReplicas: 9, ...(minReplicas && { minReplicas }) },
          },
        ],
      })
    const { template } = defaultPodCliqueSet(group(), 'team', group(1)).spec
    assert.equal(template.podCliqueScalingGroups![0]!.scaleConfig?.minReplicas, 1)
  })
})
