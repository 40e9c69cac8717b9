// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { randomSetSpec } from '../testing/random-pods.ts'
import { describeFieldChange } from './field-change.ts'
import { generationHash, podTemplateHash } from './hash.ts'
import { impact } from './impact.ts'

const set = () => ({
  metadata: { name: 'llm', labels: { team: 'a' } },
  spec: {
    replicas: 1,
    template: {
      cliqueStartupType: 'CliqueStartupTypeAnyOrder',
      priorityClassName: 'normal',
      terminationDelay: '4h0m0s',
      cliques: [clique('prefill'), clique('decode')],
      podCliqueScalingGroups: [{ name: 'workers', cliqueNames: ['decode'], replicas: 2, minAvailable: 1 }],
    },
  },
})

function clique(name: string) {
  return {
    name,
    labels: { role: name } as Record<string, string>,
    annotations: {} as Record<string, string>,
    spec: {
      roleName: name,
      replicas: 2,
      minAvailable: 2,
      startsAfter: [] as string[],
      podSpec: {
        containers: [
          {
            name: 'engine',
            image: 'engine:1',
            args: ['--tp=8'],
            env: [
              { name: 'MODE', value: name },
              { name: 'HF_TOKEN', value: 'hf_very-secret' },
            ],
            ports: [{ containerPort: 80 }, { containerPort: 90 }],
            resources: { limits: { memory: '1Gi', 'nvidia.com/gpu': '8' } },
          },
        ],
        volumes: [{ name: 'cache', emptyDir: {} }],
        tolerations: [{ key: 'gpu' }],
      },
    },
  }
}

type Set = ReturnType<typeof set>
type Clique = ReturnType<typeof clique>

function editing(edit: (set: Set, decode: Clique) => void) {
  const after = set()
  edit(after, after.spec.template.cliques[1]!)
  return impact(set(), after)
}

describe('an edit that restarts pods names the clique and the changed fields', () => {
  const engine = 'spec.template.cliques[decode].spec.podSpec.containers[engine]'
  const pod = 'spec.template.cliques[decode].spec.podSpec'
  const main = (decode: Clique) => decode.spec.podSpec.containers[0]!
  const cases: [name: string, edit: (set: Set, decode: Clique) => void, because: string[]][] = [
    [
      'image',
      (_, decode) => void Object.assign(main(decode), { image: 'engine:2' }),
      [`${engine}.image: engine:1 → engine:2`],
    ],
    [
      'memory',
      (_, decode) => void Object.assign(main(decode).resources.limits, { memory: '2048Mi' }),
      [`${engine}.resources.limits.memory: 1Gi → 2Gi`],
    ],
    [
      'devices',
      (_, decode) => void Object.assign(main(decode).resources.limits, { 'nvidia.com/gpu': '4' }),
      [`${engine}.resources.limits[nvidia.com/gpu]: 8 → 4`],
    ],
    [
      'arguments',
      (_, decode) => void main(decode).args.push('--pp=2'),
      [`${engine}.args: ["--tp=8"] → ["--tp=8","--pp=2"]`],
    ],
    [
      'a secret argument',
      (_, decode) => void main(decode).args.push('--api-key=1'),
      [`${engine}.args: (changed)`],
    ],
    [
      'a variable',
      (_, decode) => void Object.assign(main(decode).env[1]!, { value: 'x' }),
      [`${engine}.env[HF_TOKEN].value: (changed)`],
    ],
    [
      'a new variable',
      (_, decode) => void main(decode).env.push({ name: 'NEW', value: 'secret' }),
      [`${engine}.env[NEW]: (added)`],
    ],
    ['order of variables', (_, decode) => void main(decode).env.reverse(), [`${engine}.env: (reordered)`]],
    ['a port', (_, decode) => void main(decode).ports.pop(), [`${engine}.ports[90]: (removed)`]],
    [
      'a container',
      (_, decode) => void decode.spec.podSpec.containers.push({ ...main(decode), name: 'sidecar' }),
      [`${pod}.containers[sidecar]: (added)`],
    ],
    [
      'a toleration',
      (_, decode) => void Object.assign(decode.spec.podSpec.tolerations[0]!, { key: 'x' }),
      [`${pod}.tolerations[0].key: gpu → x`],
    ],
    [
      'a label',
      (_, decode) => void Object.assign(decode.labels, { 'x.io/a': '1' }),
      ['spec.template.cliques[decode].labels[x.io/a]: (added) 1'],
    ],
  ]
  for (const [name, edit, because] of cases)
    test(name, () => {
      const result = editing(edit)
      assert.equal(result.restarts, true)
      assert.equal(result.startsUpdate, true)
      assert.deepEqual(
        result.cliques.map(({ name, outcome }) => `${name} ${outcome}`),
        ['decode restarts', 'prefill unchanged'],
      )
      assert.deepEqual(result.cliques[0]!.because.map(describeFieldChange), because)
      assert.deepEqual(result.other, [])
      assert.doesNotMatch(JSON.stringify(result), /very-secret/)
    })

  test('the priority class of the gang restarts every clique', () => {
    const result = editing(set => void Object.assign(set.spec.template, { priorityClassName: 'high' }))
    for (const { restarts, because } of result.cliques) {
      assert.equal(restarts, true)
      assert.deepEqual(because.map(describeFieldChange), ['spec.template.priorityClassName: normal → high'])
    }
  })
})

describe('edits without a restart are reported by kind', () => {
  const cases: [kinds: string[], edit: (set: Set, decode: Clique) => void][] = [
    [['replicas'], set => void Object.assign(set.spec, { replicas: 3 })],
    [['replicas'], (_, decode) => void Object.assign(decode.spec, { replicas: 9 })],
    [
      ['scalingGroupReplicas'],
      set => void Object.assign(set.spec.template.podCliqueScalingGroups[0]!, { replicas: 5 }),
    ],
    [['minAvailable'], (_, decode) => void Object.assign(decode.spec, { minAvailable: 1 })],
    [['terminationDelay'], set => void Object.assign(set.spec.template, { terminationDelay: '1h' })],
    [['order'], set => void set.spec.template.cliques.reverse()],
    [
      ['replicas', 'order'],
      set => void Object.assign(set.spec.template.cliques.reverse()[0]!.spec, { replicas: 7 }),
    ],
    [['metadata'], set => void Object.assign(set.metadata.labels, { team: 'b' })],
    [['startup'], (_, decode) => void decode.spec.startsAfter.push('prefill')],
    [['updateStrategy'], set => void Object.assign(set.spec, { updateStrategy: { type: 'OnDelete' } })],
    [
      ['autoscaling'],
      (_, decode) => void Object.assign(decode.spec, { autoScalingConfig: { maxReplicas: 4 } }),
    ],
    [
      ['topology'],
      (_, decode) => void Object.assign(decode.annotations, { 'grove.io/topology-name': 'site' }),
    ],
    [['scalingGroup'], set => void set.spec.template.podCliqueScalingGroups.pop()],
    [
      ['notation'],
      (_, decode) =>
        void Object.assign(decode.spec.podSpec.containers[0]!.resources.limits, { memory: '1024Mi' }),
    ],
    [['notation'], (_, decode) => void decode.spec.podSpec.containers[0]!.ports.reverse()],
    [
      ['notation'],
      (_, decode) => void Object.assign(decode.spec.podSpec, { restartPolicy: 'Always', initContainers: [] }),
    ],
    [[], () => {}],
  ]
  for (const [kinds, edit] of cases)
    test(`${kinds.join(' and ') || 'none'}: ${edit.toString().replace(/\s+/g, ' ').slice(0, 90)}`, () => {
      const result = editing(edit)
      assert.equal(result.restarts, false)
      assert.equal(result.startsUpdate, false)
      assert.deepEqual(
        result.other.map(change => change.kind),
        kinds,
      )
    })

  test('a change of replicas contains both numbers', () => {
    const [change] = editing((_, decode) => void Object.assign(decode.spec, { replicas: 9 })).other
    assert.equal(describeFieldChange(change!), 'spec.template.cliques[decode].spec.replicas: 2 → 9')
  })

  test('a new clique starts an update and restarts no other', () => {
    const result = editing(set => void set.spec.template.cliques.push(clique('router')))
    assert.equal(result.restarts, false)
    assert.equal(result.startsUpdate, true)
    assert.deepEqual(
      result.cliques.map(({ outcome }) => outcome),
      ['unchanged', 'unchanged', 'added'],
    )
    assert.deepEqual(result.other, [])
  })

  test('another startup order is a new generation, but restarts no pods', () => {
    const before = set()
    before.spec.template.cliqueStartupType = 'CliqueStartupTypeInOrder'
    const after = structuredClone(before)
    after.spec.template.cliques.reverse()
    const result = impact(before, after)
    assert.equal(result.restarts, false)
    assert.equal(result.startsUpdate, true)
    assert.deepEqual(
      result.other.map(change => change.kind),
      ['startup'],
    )
  })
})

test('a change of startsAfter restarts the pods that wait', () => {
  const before = set()
  before.spec.template.cliqueStartupType = 'CliqueStartupTypeExplicit'
  const after = structuredClone(before)
  after.spec.template.cliques[1]!.spec.startsAfter.push('prefill')
  const [decode] = impact(before, after).cliques
  assert.deepEqual(decode?.because.map(describeFieldChange), [
    'spec.template.cliques[decode].spec.startsAfter: (added) ["prefill"]',
  ])
})

test('the impact agrees with the hashes, and every restart has a reason', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.boolean(), (seed, other, loose) => {
      const before = randomSetSpec(seed, 3, 2, loose)
      const after = seed % 2 === 0 ? randomSetSpec(other, 3, 2, loose) : structuredClone(before)
      after.template.priorityClassName = before.template.priorityClassName
      after.template.cliques[other % 3] = randomSetSpec(other, 3, 2, loose).template.cliques[other % 3]!
      const result = impact({ spec: before }, { spec: after })
      assert.equal(result.startsUpdate, generationHash(before) !== generationHash(after))
      for (const [index, { restarts, because }] of result.cliques.entries()) {
        const hashes = [before, after].map(({ template }) =>
          podTemplateHash(template, template.cliques[index]!),
        )
        assert.equal(restarts, hashes[0] !== hashes[1])
        assert.equal(because.length > 0, restarts)
      }
    }),
  )
})

test('any two values can be compared', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.equal(impact({ spec: a }, { spec: a }).startsUpdate, false)
      impact({ metadata: a, spec: { template: a } }, { metadata: b, spec: { template: { cliques: [b, a] } } })
    }),
  )
})
