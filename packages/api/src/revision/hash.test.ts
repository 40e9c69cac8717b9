// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { canonicalSetTemplate } from './canonical.ts'
import { canonicalJson } from './canonical-json.ts'
import { generationHash, hashAlgorithmOf, hashCanonical, podTemplateHash } from './hash.ts'
import { legacyGenerationHash } from './legacy.ts'
import { randomSetSpec } from './random-pods.ts'

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

// Stored in clusters. If one of these changes, every workload is updated at the next release: then it takes a new
// version of the algorithm, and a way to recognise the old one.
describe('golden values of z1', () => {
  const minimal = {
    template: { cliques: [{ name: 'a', spec: { podSpec: { containers: [{ name: 'main' }] } } }] },
  }

  test('the text that is hashed', () => {
    assert.equal(
      canonicalJson(canonicalSetTemplate(minimal)),
      '{"cliques":[{"name":"a","template":{"podSpec":{"containers":[{"name":"main"}]}}}]}',
    )
  })
  test('a minimal set', () => {
    assert.equal(generationHash(minimal), 'z1-530a579e6fe664a23539ceba')
    assert.equal(
      podTemplateHash(minimal.template, minimal.template.cliques[0]!),
      'z1-8132fdfb56b397a666f3b64b',
    )
    assert.equal(generationHash({}), 'z1-c00378927d1f8144dc7e3cad')
  })
  test('a set of two roles', () => {
    const [prefill, decode] = twoRoles.template.cliques
    assert.equal(generationHash(twoRoles), 'z1-dbb22679e6c576eac4d73fae')
    assert.equal(podTemplateHash(twoRoles.template, prefill!), 'z1-2312849029b82f36518fb3df')
    assert.equal(podTemplateHash(twoRoles.template, decode!), 'z1-9aa85320855896816cf7c5df')
  })
})

test('a hash is a label value that names its algorithm, and no other algorithm makes it', () => {
  fc.assert(
    fc.property(fc.nat(), seed => {
      const spec = randomSetSpec(seed, 2)
      const hash = generationHash(spec)
      assert.match(hash, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      assert.ok(hash.length <= 63)
      assert.equal(hashAlgorithmOf(hash), 'z1')
      assert.equal(hashAlgorithmOf(legacyGenerationHash(spec)), 'legacy')
      assert.equal(hashCanonical(canonicalSetTemplate(spec)), hash)
    }),
    { numRuns: 50 },
  )
})

test('what nobody writes is unknown', () => {
  for (const value of [
    '',
    'z2-0123456789abcdef01234567',
    'z1-',
    'z1-0123456789abcdef0123456',
    'abc',
    '456a',
    '4'.repeat(21),
  ])
    assert.equal(hashAlgorithmOf(value), 'unknown', value)
})

test('a field that a template does not use cannot change its hash', () => {
  const spec = randomSetSpec(7, 1)
  const before = generationHash(spec)
  const podSpec = spec.template.cliques[0]!.spec.podSpec
  podSpec.fieldOfALaterKubernetes = null
  assert.equal(generationHash(spec), before)
  podSpec.fieldOfALaterKubernetes = { mode: 'new' }
  assert.notEqual(generationHash(spec), before)
})
