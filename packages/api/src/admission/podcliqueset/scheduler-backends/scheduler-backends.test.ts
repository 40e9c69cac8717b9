// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet, updateErrorsOf } from '../../../testing/sample-sets.ts'
import type { CliqueTemplate, PodCliqueSet } from '../../../types/index.ts'

const field = 'spec.template.cliques.spec.podSpec.schedulerName'
const notEnabled =
  'schedulerName must be an enabled scheduler backend; this scheduler is not enabled in OperatorConfiguration'
const containers = [{ name: 'main', image: 'i' }]

function scheduled(name: string, schedulerName: string, rest: Partial<CliqueTemplate> = {}): CliqueTemplate {
  return clique(name, { podSpec: { containers, schedulerName } }, rest)
}

describe('the scheduler of a set', () => {
  test('is the same for all cliques, and the default profile applies to those that name none', () => {
    const set = sampleSet({ cliques: [clique('a'), scheduled('b', 'default-scheduler')] })
    assert.deepEqual(errorsOf(set), [])
    assert.deepEqual(errorsOf(set, { schedulers: ['lpx-scheduler'] }), [
      `${field}: Invalid value: "lpx-scheduler, default-scheduler": the schedulerName for all pods have to be the same`,
    ])
  })

  test('must be enabled', () => {
    for (const name of ['elsewhere', 'grove-scheduler', 'kubernetes'])
      assert.deepEqual(errorsOf(sampleSet({ cliques: [scheduled('a', name)] })), [
        `${field}: Invalid value: "${name}": ${notEnabled}`,
        `spec: Invalid value: schedulerName "${name}" is not enabled in OperatorConfiguration`,
      ])
  })

  test('may be the default scheduler, which has no rules', () => {
    assert.deepEqual(errorsOf(sampleSet({ cliques: [scheduled('a', 'default-scheduler')] })), [])
  })

  test('is rejected without the spec in the message, because the spec may contain secrets', () => {
    const env = [{ name: 'TOKEN', value: 'top-secret' }]
    const set = sampleSet({ cliques: [clique('a', { podSpec: { containers: [{ name: 'c', env }] } })] })
    assert.ok(
      !errorsOf(set, { schedulers: ['kai-scheduler'] })
        .join()
        .includes('top-secret'),
    )
  })
})

describe('kai-scheduler', () => {
  const settings = { schedulers: ['kai-scheduler'] }
  const key = 'kai.scheduler/queue'
  const queue = (name: string): Partial<CliqueTemplate> => ({ labels: { [key]: name } })
  const validate = (metadata: object, ...queues: Partial<CliqueTemplate>[]): string[] =>
    errorsOf(
      sampleSet({ cliques: queues.map((rest, index) => clique(`c${index}`, {}, rest)) }, metadata),
      settings,
    )

  const cases: [title: string, texts: string[], expected: string | undefined][] = [
    ['the set names a queue', validate({ labels: { [key]: 'a' } }, {}, {}), undefined],
    ['an annotation names a queue', validate({ annotations: { [key]: 'a' } }, {}), undefined],
    [
      'the label takes precedence',
      validate({ labels: { [key]: 'a' }, annotations: { [key]: 'b' } }, queue('a')),
      undefined,
    ],
    [
      'an empty label counts as absent',
      validate({ labels: { [key]: '' }, annotations: { [key]: 'b' } }, {}),
      undefined,
    ],
    ['one clique names a queue', validate({}, {}, queue('a')), undefined],
    [
      'set and clique differ',
      validate({ labels: { [key]: 'a' } }, {}, queue('b')),
      'KAI queue on PodCliqueSet work/demo is "a" but PodClique template "c1" resolves to "b"',
    ],
    [
      'no queue',
      validate({}, {}),
      'no KAI queue is configured on PodCliqueSet work/demo or its PodClique templates',
    ],
    [
      'cliques differ',
      validate({}, queue('z'), {}, queue('a'), queue('m')),
      'conflicting KAI queues on PodCliqueSet work/demo PodClique templates: [a m z]',
    ],
  ]
  for (const [title, texts, expected] of cases) {
    test(title, () => {
      assert.deepEqual(texts, expected ? [`spec: Invalid value: ${expected}`] : [])
    })
  }
})

test('lpx-scheduler accepts no topology constraint at any level', () => {
  const settings = { schedulers: ['lpx-scheduler'], topology: true }
  const topologyConstraint = { topologyName: 'site', pack: { required: 'rack' } }
  const expected = [
    'spec: Invalid value: lpx-scheduler does not support Grove topology constraints; placement topology must be expressed through the LPX workload contract',
  ]
  const podCliqueScalingGroups = [{ name: 'g', cliqueNames: ['web'], replicas: 1, topologyConstraint }]
  assert.deepEqual(errorsOf(sampleSet({}), settings), [])
  assert.deepEqual(errorsOf(sampleSet({ topologyConstraint }), settings), expected)
  assert.deepEqual(
    errorsOf(sampleSet({ cliques: [clique('a', {}, { topologyConstraint })] }), settings),
    expected,
  )
  assert.deepEqual(errorsOf(sampleSet({ podCliqueScalingGroups }), settings), expected)
})

describe('volcano', () => {
  const settings = { schedulers: ['volcano'], topology: true }
  const key = 'scheduling.grove.io/volcano-queue'
  const queue = (name: string): { annotations: Record<string, string> } => ({ annotations: { [key]: name } })
  const setOf = (metadata: object, ...queues: Partial<CliqueTemplate>[]): PodCliqueSet =>
    sampleSet({ cliques: queues.map((rest, index) => clique(`c${index}`, {}, rest)) }, metadata)
  const at = (index: number): string => `spec.template.cliques[${index}].annotations[${key}]`
  const oneQueue = 'all PodCliques in a PodCliqueSet using volcano scheduler must resolve to the same queue'
  const syntax =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

  const cases: [title: string, set: PodCliqueSet, expected: string | undefined][] = [
    ['without a queue, default', setOf({}, {}), undefined],
    ['a queue of the set, white space around it', setOf(queue(' batch '), {}, queue('batch')), undefined],
    ['a queue of every clique', setOf({}, queue('batch'), queue('batch')), undefined],
    ['a bad name at the set', setOf(queue('Bad'), queue('Worse')), `metadata.annotations[${key}]: ${syntax}`],
    [
      'a bad name at a clique',
      setOf({}, queue('Bad'), queue('Bad')),
      `[${at(0)}: ${syntax}, ${at(1)}: ${syntax}]`,
    ],
    [
      'set and clique differ',
      setOf(queue('batch'), {}, queue('default')),
      `${at(1)}: conflicting volcano queue annotations: PodCliqueSet has "batch", PodClique has "default"`,
    ],
    [
      'cliques differ',
      setOf({}, queue('batch'), {}, queue('x')),
      `[${at(1)}: ${oneQueue}, ${at(2)}: ${oneQueue}]`,
    ],
    ['no such queue', setOf(queue('nowhere'), {}), 'volcano queue "nowhere" does not exist'],
    ['the queue cannot be read', setOf({}, queue('broken')), 'failed to get volcano queue "broken": timeout'],
    ['a closed queue', setOf(queue('shut'), {}), 'volcano queue "shut" is not Open'],
  ]
  for (const [title, set, expected] of cases) {
    test(title, () => {
      assert.deepEqual(errorsOf(set, settings), expected ? [`spec: Invalid value: ${expected}`] : [])
    })
  }

  test('accepts no topology constraint, and the outermost is reported', () => {
    const text = 'spec: Invalid value: volcano scheduler backend does not support topologyConstraint on'
    const topologyConstraint = { topologyName: 'site', pack: { required: 'rack' } }
    const cliques = [clique('a', {}, { topologyConstraint })]
    const podCliqueScalingGroups = [{ name: 'g', cliqueNames: ['a'], replicas: 1, topologyConstraint }]
    const validate = (template: object): string[] => errorsOf(sampleSet(template), settings)
    assert.deepEqual(validate({ topologyConstraint, cliques, podCliqueScalingGroups }), [
      `${text} PodCliqueSet`,
    ])
    assert.deepEqual(validate({ cliques, podCliqueScalingGroups }), [`${text} PodClique "a"`])
    assert.deepEqual(validate({ cliques: [clique('a')], podCliqueScalingGroups }), [
      `${text} PodCliqueScalingGroup "g"`,
    ])
  })

  test('a queue that was closed later blocks only changes of the queue', () => {
    const stored = setOf(queue('shut'), {})
    const scaled = { ...stored, spec: { ...stored.spec, replicas: 5 } }
    assert.deepEqual(updateErrorsOf(scaled, stored, settings), [])
    const moved = { ...stored, metadata: { ...stored.metadata, ...queue('nowhere') } }
    assert.deepEqual(updateErrorsOf(moved, stored, settings), [
      'spec: Invalid value: volcano queue "nowhere" does not exist',
    ])
  })
})

describe('native gangs of Kubernetes', () => {
  const settings = { schedulers: ['kubernetes'] }

  test('have at most eight templates in one list', () => {
    const cliques = (count: number) => Array.from({ length: count }, (_, at) => clique(`c${at}`))
    assert.deepEqual(errorsOf(sampleSet({ cliques: cliques(8) }), settings), [])
    assert.match(
      errorsOf(sampleSet({ cliques: cliques(9) }), settings).join(),
      /scheduler "kubernetes" supports at most 8 cliques outside of scaling groups with a topology constraint, not 9/,
    )
  })

  test('leave schedulingGroup to the operator', () => {
    const podSpec = { containers, schedulingGroup: { podGroupName: 'mine' } }
    assert.match(
      errorsOf(sampleSet({ cliques: [clique('a', { podSpec })] }), settings).join(),
      /the operator sets podSpec.schedulingGroup; remove it from clique "a"/,
    )
  })
})
