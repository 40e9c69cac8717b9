// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSetSpec } from '../testing/random-pods.ts'
import { compareBytes } from './byte-order.ts'
import { Fnv1a64 } from './fnv.ts'
import { hashAlgorithmOf } from './hash.ts'
import {
  encodeLegacySum,
  legacyGenerationHash,
  legacyPodTemplateHash,
  legacyPodTemplatePrint,
} from './legacy.ts'
import { legacyPrint } from './legacy-print.ts'

describe('the sum and its alphabet', () => {
  const cases: [text: string, sum: string, encoded: string][] = [
    ['', '14695981039346656037', '58bf9fd547f78bb9b47c'],
    ['a', '12638187200555641996', '56b7d5dc644999b85ffb'],
    ['(string)test', '4750482246928359241', '8c948d668bf6d79f685'],
    ['(*int64)30', '10150251833555694058', '54594695d77999bf849d'],
  ]
  for (const [text, sum, encoded] of cases)
    test(JSON.stringify(text), () => {
      assert.equal(new Fnv1a64().update(text).digest(), sum)
      assert.equal(encodeLegacySum(sum), encoded)
    })

  test('pieces give the sum of the whole text, in UTF-8', () => {
    const whole = new Fnv1a64().update('größe 😀').digest()
    assert.equal(new Fnv1a64().update('grö').update('').update('ße 😀').digest(), whole)
    let sum = 0xcbf29ce484222325n
    for (const byte of new TextEncoder().encode('größe 😀'))
      sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n)
    assert.equal(whole, String(sum))
  })
})

describe('printed Go values', () => {
  const cases: [type: string, value: unknown, print: string][] = [
    ['*v1.PodOS', { name: 'linux' }, '(*v1.PodOS){Name:(v1.OSName)linux}'],
    ['*v1.PodOS', null, '(*v1.PodOS)<nil>'],
    ['[]string', ['a', '', 'b'], '([]string)[a  b]'],
    ['[]string', [], '([]string)[]'],
    ['[]string', undefined, '([]string)<nil>'],
    ['map[string]string', { b: '2', a: '' }, '(map[string]string)map[a: b:2]'],
    ['map[string]string', {}, '(map[string]string)map[]'],
    ['map[string]string', null, '(map[string]string)<nil>'],
    [
      'v1.EnvFromSource',
      { secretRef: { name: 's', optional: true } },
      '(v1.EnvFromSource){Prefix:(string) ConfigMapRef:(*v1.ConfigMapEnvSource)<nil> SecretRef:(*v1.SecretEnvSource)' +
        '{LocalObjectReference:(v1.LocalObjectReference){Name:(string)s} Optional:(*bool)true}}',
    ],
    [
      'v1.TCPSocketAction',
      { port: 8080 },
      '(v1.TCPSocketAction){Port:(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)8080 StrVal:(string)} Host:(string)}',
    ],
    [
      'v1.TCPSocketAction',
      { port: 'web' },
      '(v1.TCPSocketAction){Port:(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)web} Host:(string)}',
    ],
    [
      'v1.ResourceList',
      { memory: '1Gi', cpu: '0.5' },
      '(v1.ResourceList)map[cpu:{i:(resource.int64Amount){value:(int64)5 scale:(resource.Scale)-1} ' +
        'd:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string) Format:(resource.Format)DecimalSI} ' +
        'memory:{i:(resource.int64Amount){value:(int64)1073741824 scale:(resource.Scale)0} ' +
        'd:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)1Gi Format:(resource.Format)BinarySI}]',
    ],
    [
      '*resource.Quantity',
      '-20Pi',
      '(*resource.Quantity){i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} ' +
        'd:(resource.infDecAmount){Dec:(*inf.Dec){unscaled:(big.Int){neg:(bool)true ' +
        'abs:(big.nat)[2305843009213693952 1220703]} scale:(inf.Scale)9}} s:(string) Format:(resource.Format)BinarySI}',
    ],
  ]
  for (const [type, value, print] of cases)
    test(`${type} ${JSON.stringify(value)}`, () => assert.equal(legacyPrint(type, value), print))

  test('keys are sorted by bytes, not by UTF-16 units', () => {
    assert.equal(
      legacyPrint('map[string]string', { '\u{1f600}': '', '\uffee': '' }),
      '(map[string]string)map[\uffee: \u{1f600}:]',
    )
    assert.ok(compareBytes('\u{1f600}', '\uffee') > 0)
    assert.ok(compareBytes('a', 'ab') < 0)
  })
})

// Verified with the Go program in packages/api/generate/legacy.
const prefillSpec = {
  replicas: 2,
  template: {
    priorityClassName: 'urgent',
    cliques: [
      {
        name: 'leader',
        labels: { app: 'prefill' },
        annotations: {},
        spec: {
          replicas: 1,
          podSpec: {
            priorityClassName: 'ignored',
            terminationGracePeriodSeconds: 30,
            containers: [
              {
                name: 'engine',
                image: 'registry.example/engine:1.2',
                args: [],
                env: [{ name: 'ROLE', value: 'leader' }],
                resources: { limits: { 'nvidia.com/gpu': '8', memory: '120Gi' } },
                readinessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 5 },
              },
            ],
            volumes: [{ name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '64Gi' } }],
          },
        },
      },
      {
        name: 'worker',
        spec: {
          replicas: 3,
          podSpec: {
            containers: [{ name: 'engine', image: 'registry.example/engine:1.2', resources: {} }],
            tolerations: [{ key: 'gpu', operator: 'Exists', tolerationSeconds: 0 }],
          },
        },
      },
    ],
  },
}

describe('golden values', () => {
  const [leader, worker] = prefillSpec.template.cliques
  test('pod template hashes', () => {
    assert.equal(legacyPodTemplateHash(prefillSpec.template, leader!), '55c4fd6cb4665747b95b')
    assert.equal(legacyPodTemplateHash(prefillSpec.template, worker!), '569745795d5474565d99')
  })
  test('generation hash', () => assert.equal(legacyGenerationHash(prefillSpec), '55dffdcb4487948745c8'))
  test('a hash of the Go-based operator is recognised by its alphabet', () => {
    for (let seed = 0; seed < 50; seed++)
      assert.equal(hashAlgorithmOf(legacyGenerationHash(randomSetSpec(seed, 1))), 'legacy')
  })
})

test('the priority class of the gang replaces that of the pod, and replicas are ignored', () => {
  const print = legacyPodTemplatePrint(prefillSpec.template, prefillSpec.template.cliques[0]!)
  assert.match(print, / PriorityClassName:\(string\)urgent /)
  assert.doesNotMatch(print, /ignored/)
  const more = structuredClone(prefillSpec)
  more.replicas = 9
  for (const clique of more.template.cliques) clique.spec.replicas += 5
  assert.equal(legacyGenerationHash(more), legacyGenerationHash(prefillSpec))
})

test('a single clique has one hash for both, and no clique gives the empty sum', () => {
  const spec = { template: { cliques: [prefillSpec.template.cliques[1]!] } }
  assert.equal(legacyGenerationHash(spec), legacyPodTemplateHash(spec.template, spec.template.cliques[0]!))
  assert.equal(legacyGenerationHash({}), '58bf9fd547f78bb9b47c')
})
