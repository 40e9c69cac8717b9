// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configurationWith, sampleCluster, sampleSet } from '../../testing/sample-sets.ts'
import type { PodCliqueSet } from '../../types/index.ts'
import { defaultPodCliqueSet } from '../defaulting.ts'
import { initialCountWarnings, startupOrderWarnings } from './ineffective-settings.ts'
import { validateChangedPodCliqueSet, validateNewPodCliqueSet } from './validate.ts'

const context = { configuration: configurationWith({}), cluster: sampleCluster }

/** A clique alone, a clique with an autoscaler, and a group with one member. */
function trio(change: (set: PodCliqueSet) => void = () => undefined): PodCliqueSet {
  const set = structuredClone(sampleSet())
  const [first] = set.spec.template.cliques
  const named = (name: string) => ({
    ...structuredClone(first!),
    name,
    spec: { ...structuredClone(first!.spec), roleName: name },
  })
  set.metadata = { name: 'llm', namespace: 'team' }
  set.spec.replicas = 1
  set.spec.template.cliqueStartupType = 'CliqueStartupTypeAnyOrder'
  set.spec.template.cliques = ['router', 'scaled', 'work'].map(named)
  for (const clique of set.spec.template.cliques) {
    clique.spec.replicas = 2
    clique.spec.minAvailable = 1
    delete clique.spec.startsAfter
    delete clique.spec.autoScalingConfig
  }
  set.spec.template.cliques[1]!.spec.autoScalingConfig = { minReplicas: 1, maxReplicas: 9 }
  set.spec.template.podCliqueScalingGroups = [
    { name: 'eng', cliqueNames: ['work'], replicas: 2, minAvailable: 1 },
  ]
  change(set)
  return defaultPodCliqueSet(set)
}

describe('an edit of a count in the template', () => {
  const effect = (change: (set: PodCliqueSet) => void, before = trio()) =>
    initialCountWarnings(trio(change), before)
  const table: [name: string, change: (set: PodCliqueSet) => void, expected: string[]][] = [
    ['none', () => undefined, []],
    [
      'of a clique',
      set => {
        set.spec.template.cliques[0]!.spec.replicas = 5
      },
      [
        'spec.template.cliques[0].spec.replicas: has no effect on existing PodCliques; scale them: kubectl -n team scale pclq/llm-0-router --replicas=5',
      ],
    ],
    [
      'of a clique with an autoscaler',
      set => {
        set.spec.template.cliques[1]!.spec.replicas = 5
      },
      [
        'spec.template.cliques[1].spec.replicas: has no effect on existing PodCliques; HorizontalPodAutoscaler llm-0-scaled scales them',
      ],
    ],
    [
      'of a member of a group',
      set => {
        set.spec.template.cliques[2]!.spec.replicas = 5
      },
      [
        'spec.template.cliques[2].spec.replicas: applies only to replicas of scaling group eng that are created from now on',
      ],
    ],
    [
      'of a group',
      set => {
        set.spec.template.podCliqueScalingGroups![0]!.replicas = 4
      },
      [
        'spec.template.podCliqueScalingGroups[0].replicas: has no effect on existing PodCliqueScalingGroups; scale them: kubectl -n team scale pcsg/llm-0-eng --replicas=4',
      ],
    ],
    [
      'of a group with an autoscaler',
      set => {
        Object.assign(set.spec.template.podCliqueScalingGroups![0]!, {
          replicas: 4,
          scaleConfig: { maxReplicas: 9 },
        })
      },
      [
        'spec.template.podCliqueScalingGroups[0].replicas: has no effect on existing PodCliqueScalingGroups; HorizontalPodAutoscaler llm-0-eng scales them',
      ],
    ],
    [
      'of a set that is scaled to zero',
      set => {
        set.spec.replicas = 0
        set.spec.template.cliques[0]!.spec.replicas = 5
      },
      [],
    ],
    [
      'of a clique that is new',
      set => {
        set.spec.template.cliques[0]!.name = 'other'
        set.spec.template.cliques[0]!.spec.replicas = 5
      },
      [],
    ],
  ]
  for (const [name, change, expected] of table) test(name, () => assert.deepEqual(effect(change), expected))

  test('of a set with several replicas names the first', () => {
    const several = (set: PodCliqueSet) => {
      set.spec.replicas = 3
    }
    const [warning] = effect(set => {
      several(set)
      set.spec.template.podCliqueScalingGroups![0]!.replicas = 4
    }, trio(several))
    assert.match(
      warning ?? '',
      /pcsg\/llm-0-eng --replicas=4, and the same for the other replicas of the set$/,
    )
  })

  test('is accepted with the warning', () => {
    const changed = trio(set => {
      set.spec.template.podCliqueScalingGroups![0]!.replicas = 4
    })
    const { errors, warnings } = validateChangedPodCliqueSet(changed, trio(), context)
    assert.deepEqual(errors, [])
    assert.deepEqual(warnings, initialCountWarnings(changed, trio()))
    assert.deepEqual(validateNewPodCliqueSet(changed, context).warnings, [])
  })
})

describe('startsAfter', () => {
  const ordered = (type: NonNullable<PodCliqueSet['spec']['template']['cliqueStartupType']>) =>
    trio(set => {
      set.spec.template.cliqueStartupType = type
      set.spec.template.cliques[1]!.spec.startsAfter = ['router']
    })
  const expected = [
    'spec.template.cliques[1].spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit',
  ]

  test('has an effect with explicit startup only', () => {
    assert.deepEqual(startupOrderWarnings(ordered('CliqueStartupTypeExplicit')), [])
    assert.deepEqual(startupOrderWarnings(ordered('CliqueStartupTypeInOrder')), expected)
    assert.deepEqual(startupOrderWarnings(ordered('CliqueStartupTypeAnyOrder')), expected)
    assert.deepEqual(startupOrderWarnings(trio()), [])
  })

  test('is accepted with the warning', () => {
    const { errors, warnings } = validateNewPodCliqueSet(ordered('CliqueStartupTypeAnyOrder'), context)
    assert.deepEqual([errors, warnings], [[], expected])
  })
})
