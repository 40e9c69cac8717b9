// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { randomSetSpec } from '../testing/random-pods.ts'
import { canonicalSetTemplate } from './canonical.ts'
import { canonicalJson } from './canonical-json.ts'
import { formerGenerationHash, generationHash, hashAlgorithmOf, podTemplateHash } from './hash.ts'
import { legacyGenerationHash } from './legacy.ts'

const twoRoles = {
  replicas: 2,
  template: {
    cliqueStartupType: 'CliqueStartupTypeExplicit',
    priorityClassName: 'urgent',
    cliques: [
      {
        name: 'prefill',
        labels: { 'app.kubernetes.io/part-of': 'llm', größe: '70b' },
        annotations: { 'grove.io/topology-name': 'site', note: '' },
        spec: {
          replicas: 4,
          podSpec: {
            restartPolicy: 'Always',
            serviceAccount: 'llm',
            nodeSelector: { gpu: 'h100' },
            tolerations: [{ key: 'gpu', operator: 'Exists' }, { operator: 'Exists' }],
            initContainers: [{ name: 'fetch', image: 'fetch', restartPolicy: 'Always' }],
            containers: [
              {
                name: 'engine',
                image: 'registry.example/engine:1.2',
                command: ['serve'],
                args: ['--role', 'prefill', ''],
                env: [
                  { name: 'RANK', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                  { name: 'EMPTY', value: '' },
                ],
                ports: [
                  { containerPort: 9000, protocol: 'UDP' },
                  { containerPort: 8000, name: 'http' },
                ],
                resources: { limits: { cpu: '1500m', memory: '120Gi', 'nvidia.com/gpu': 8 } },
                readinessProbe: { httpGet: { port: 'http' }, periodSeconds: 5 },
                volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
                securityContext: { runAsUser: 0, capabilities: {} },
              },
            ],
            volumes: [
              { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '64Gi' } },
              {
                name: 'cache',
                ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '1Ti' } } } } },
              },
            ],
          },
        },
      },
      {
        name: 'decode',
        spec: {
          startsAfter: ['prefill'],
          podSpec: {
            hostNetwork: true,
            containers: [{ name: 'engine', ports: [{ containerPort: 1, hostPort: 1 }] }],
          },
        },
      },
    ],
  },
}

// These values are stored in clusters. If one changes, the next release updates every workload. A change therefore
// needs a new algorithm version, and code that recognises the old one.
const minimal = {
  template: { cliques: [{ name: 'a', spec: { podSpec: { containers: [{ name: 'main' }] } } }] },
}

describe('golden values of z1', () => {
  test('a minimal set', () => {
    assert.equal(formerGenerationHash(minimal), 'z1-530a579e6fe664a23539ceba')
    assert.equal(
      podTemplateHash(minimal.template, minimal.template.cliques[0]!),
      'z1-8132fdfb56b397a666f3b64b',
    )
    assert.equal(formerGenerationHash({}), 'z1-c00378927d1f8144dc7e3cad')
  })
  test('a set of two roles', () => {
    const [prefill, decode] = twoRoles.template.cliques
    assert.equal(formerGenerationHash(twoRoles), 'z1-dbb22679e6c576eac4d73fae')
    assert.equal(podTemplateHash(twoRoles.template, prefill!), 'z1-2312849029b82f36518fb3df')
    assert.equal(podTemplateHash(twoRoles.template, decode!), 'z1-9aa85320855896816cf7c5df')
  })
})

describe('golden values of z2', () => {
  test('the hashed text', () => {
    const text = '"cliques":[{"name":"a","template":{"podSpec":{"containers":[{"name":"main"}]}}}]'
    assert.equal(canonicalJson(canonicalSetTemplate(minimal)), `{${text}}`)
    assert.equal(
      canonicalJson(canonicalSetTemplate(starting(minimal, 'CliqueStartupTypeInOrder'))),
      `{${text},"startupType":"CliqueStartupTypeInOrder"}`,
    )
  })
  test('a minimal set', () => {
    assert.equal(generationHash(minimal), 'z2-530a579e6fe664a23539ceba')
    assert.equal(generationHash({}), 'z2-c00378927d1f8144dc7e3cad')
  })
  test('a set of two roles', () => {
    assert.equal(generationHash(twoRoles), 'z2-dc01a131a29542b7ecdf49d2')
  })
})

const startupTypes = ['CliqueStartupTypeInOrder', 'CliqueStartupTypeAnyOrder', 'CliqueStartupTypeExplicit']

function starting<T extends { template: object }>(spec: T, cliqueStartupType: string): T {
  return { ...spec, template: { ...spec.template, cliqueStartupType } }
}

test('another startup type is another generation, even with equal cliques', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 0, max: 3 }), fc.boolean(), (seed, cliques, loose) => {
      const spec = randomSetSpec(seed, cliques, 2, loose)
      const hashes = startupTypes.map(type => generationHash(starting(spec, type)))
      assert.equal(new Set(hashes).size, 3, hashes.join())
    }),
    { numRuns: 50 },
  )
  for (const spec of [minimal, twoRoles, { template: {} }])
    assert.equal(new Set(startupTypes.map(type => generationHash(starting(spec, type)))).size, 3)
})

test('an absent startup type equals the default', () => {
  for (const type of ['', 'CliqueStartupTypeAnyOrder'])
    assert.equal(generationHash(starting(minimal, type)), generationHash(minimal))
})

test('the startup type is not part of a pod template', () => {
  const [clique] = minimal.template.cliques
  const hashes = startupTypes.map(type => podTemplateHash(starting(minimal, type).template, clique!))
  assert.equal(new Set(hashes).size, 1)
})

test('a hash is a label value that identifies its algorithm', () => {
  fc.assert(
    fc.property(fc.nat(), seed => {
      const spec = randomSetSpec(seed, 2)
      const hash = generationHash(spec)
      assert.match(hash, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      assert.ok(hash.length <= 63)
      assert.equal(hashAlgorithmOf(hash), 'z2')
      assert.equal(hashAlgorithmOf(formerGenerationHash(spec)), 'z1')
      assert.equal(hashAlgorithmOf(podTemplateHash(spec.template, spec.template.cliques[0]!)), 'z1')
      assert.equal(hashAlgorithmOf(legacyGenerationHash(spec)), 'legacy')
    }),
    { numRuns: 50 },
  )
})

test('a text that no algorithm produces is unknown', () => {
  for (const value of [
    '',
    'z3-0123456789abcdef01234567',
    'z1-',
    'z2-',
    'z1-0123456789abcdef0123456',
    'abc',
    '456a',
    '4'.repeat(21),
  ])
    assert.equal(hashAlgorithmOf(value), 'unknown', value)
})

test('an unused field cannot change the hash of a template', () => {
  const spec = randomSetSpec(7, 1)
  const before = generationHash(spec)
  const podSpec = spec.template.cliques[0]!.spec.podSpec
  podSpec.fieldOfALaterKubernetes = null
  assert.equal(generationHash(spec), before)
  podSpec.fieldOfALaterKubernetes = { mode: 'new' }
  assert.notEqual(generationHash(spec), before)
})
