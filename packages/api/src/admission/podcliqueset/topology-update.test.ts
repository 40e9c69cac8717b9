// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, sampleSet, updateErrorsOf, validateUpdate } from '../../testing/sample-sets.ts'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'

const ofSet = 'spec.template.topologyConstraint'
const ofClique = 'spec.template.cliques[0].topologyConstraint'
const ofGroup = 'spec.template.podCliqueScalingGroups[0].topologyConstraint'
const levels = ['set', 'clique', 'group'] as const

type Constraints = Partial<Record<(typeof levels)[number], TopologyConstraint>>

function setOf({ set, clique: ofWeb, group }: Constraints, replicas = 1): PodCliqueSet {
  const at = (topologyConstraint?: TopologyConstraint): object =>
    topologyConstraint ? { topologyConstraint } : {}
  return sampleSet(
    {
      ...at(set),
      cliques: [clique('web', {}, at(ofWeb))],
      podCliqueScalingGroups: [
        { name: 'pool', cliqueNames: ['web'], replicas: 1, minAvailable: 1, ...at(group) },
      ],
    },
    {},
    { replicas },
  )
}

/**
 * Updates `old` to `now`, together with another number of replicas, because an update without a change is not
 * validated.
 */
const validate = (old: Constraints, now: Constraints, topology = true): string[] =>
  updateErrorsOf(setOf(now, 2), setOf(old), { topology })

const site = (required?: string, preferred?: string): TopologyConstraint => ({
  topologyName: 'site',
  pack: { ...(required && { required }), ...(preferred && { preferred }) },
})
const legacy = (packDomain: string, rest: Partial<TopologyConstraint> = {}): TopologyConstraint => ({
  packDomain,
  ...rest,
})

test('unchanged constraints are not validated again: neither their domains nor the feature', () => {
  assert.deepEqual(validate({ set: site('planet') }, { set: site('planet') }), [])
  assert.deepEqual(validate({ set: site('zone') }, { set: site('zone') }, false), [])
})

describe('constraints are immutable', () => {
  const titles = { set: 'PodCliqueSet', clique: "PodClique 'web'", group: "PodCliqueScalingGroup 'pool'" }
  const fields = { set: ofSet, clique: ofClique, group: ofGroup }

  for (const level of ['clique', 'group'] as const) {
    const prefix = `${fields[level]}: Forbidden: ${titles[level]}`
    const cases: [
      title: string,
      old: TopologyConstraint | undefined,
      now: TopologyConstraint | undefined,
      text: string,
    ][] = [
      ['added', undefined, site('rack'), 'topology constraint cannot be added after creation'],
      ['removed', site('rack'), undefined, 'topology constraint cannot be removed after creation'],
      [
        'renamed',
        site('host'),
        { ...site('host'), topologyName: 'annex' },
        "topology constraint topologyName cannot be changed from 'site' to 'annex'",
      ],
      [
        'another required domain',
        site('rack', 'host'),
        site('host', 'host'),
        'topology constraint cannot be changed from required="rack" preferred="host" to required="host" preferred="host"',
      ],
      [
        'another preferred domain',
        site('rack'),
        site('rack', 'host'),
        'topology constraint cannot be changed from required="rack" preferred="" to required="rack" preferred="host"',
      ],
    ]
    for (const [title, old, now, text] of cases) {
      test(`${level}: ${title}`, () => {
        const at = (constraint?: TopologyConstraint): Constraints =>
          constraint ? { [level]: constraint } : {}
        assert.deepEqual(validate(at(old), at(now)), [`${prefix} ${text}`])
      })
    }
  }

  test('at the set, an added, removed or changed name is reported before everything else', () => {
    const text = (old: string, now: string): string[] => [
      `${ofSet}.topologyName: Forbidden: topologyName cannot be changed from "${old}" to "${now}"`,
    ]
    assert.deepEqual(validate({}, { set: site('rack') }), text('', 'site'))
    assert.deepEqual(validate({ set: site('rack') }, {}), text('site', ''))
    assert.deepEqual(
      validate({ set: site('rack') }, { set: { ...site('host'), topologyName: 'annex' } }),
      text('site', 'annex'),
    )
  })

  test('at the set, with the same name', () => {
    assert.deepEqual(validate({ set: site('rack') }, { set: site('zone') }), [
      `${ofSet}: Forbidden: PodCliqueSet topology constraint cannot be changed from required="rack" preferred="" to required="zone" preferred=""`,
    ])
  })
})

describe('the deprecated packDomain', () => {
  const named = (packDomain: string, rest: Partial<TopologyConstraint> = {}): TopologyConstraint =>
    legacy(packDomain, { topologyName: 'site', ...rest })

  for (const level of levels) {
    test(`may be replaced by pack.required: ${level}`, () => {
      assert.deepEqual(validate({ [level]: named('rack') }, { [level]: site('rack') }), [])
      const preferring = { pack: { preferred: 'host' } }
      assert.deepEqual(
        validate({ [level]: named('rack', preferring) }, { [level]: site('rack', 'host') }),
        [],
      )
    })
  }

  test('may not change its value in the process', () => {
    assert.deepEqual(validate({ clique: named('rack') }, { clique: site('zone', 'host') }), [
      `${ofClique}: Forbidden: PodClique 'web' deprecated packDomain migration can only move packDomain to pack.required without changing the required or preferred topology domain (old required="rack" preferred="", new required="zone" preferred="host")`,
    ])
  })

  test('may not be added again', () => {
    assert.deepEqual(validate({ clique: site('rack') }, { clique: named('rack') }), [
      `${ofClique}: Forbidden: PodClique 'web' topology constraint cannot be changed from required="rack" preferred="" to required="rack" preferred=""`,
    ])
  })

  test('causes a warning while it is present', () => {
    const old = setOf({ set: named('zone'), clique: named('rack'), group: named('rack') })
    const now = setOf({ set: named('zone'), clique: named('rack'), group: site('rack') }, 2)
    const deprecated = (field: string): string =>
      `${field}.packDomain is deprecated; use ${field}.pack.required instead`
    assert.deepEqual(validateUpdate(now, old, { topology: true }), {
      errors: [],
      warnings: [deprecated(ofSet), deprecated(ofClique)],
    })
  })
})

describe('a stored set without a topology name', () => {
  test('may get one, and is then validated like a new set', () => {
    const old = { set: legacy('zone'), clique: legacy('rack') }
    assert.deepEqual(
      validate(old, { set: legacy('zone', { topologyName: 'site' }), clique: legacy('rack') }),
      [],
    )
    assert.deepEqual(
      validate(old, { set: legacy('zone', { topologyName: 'annex' }), clique: legacy('rack') }),
      [
        `${ofClique}.packDomain: Invalid value: "rack": topology domain 'rack' does not exist in cluster topology [zone host]`,
      ],
    )
    assert.deepEqual(
      validate(old, { set: legacy('zone', { topologyName: 'site' }), clique: legacy('rack') }, false),
      [
        `${ofSet}: Invalid value: ["zone"]: topology constraints are not allowed when Topology Aware Scheduling is disabled`,
        `${ofClique}: Invalid value: ["rack"]: topology constraints are not allowed when Topology Aware Scheduling is disabled`,
      ],
    )
  })

  for (const level of levels) {
    test(`may get a preferred domain, or another one, together with the name: ${level}`, () => {
      const named = (preferred: string): Constraints => ({
        [level]: legacy('zone', { topologyName: 'site', pack: { preferred } }),
      })
      assert.deepEqual(validate({ [level]: legacy('zone') }, named('rack')), [])
      assert.deepEqual(
        validate({ [level]: legacy('zone', { pack: { preferred: 'host' } }) }, named('rack')),
        [],
      )
      assert.match(validate({ [level]: legacy('zone') }, named('planet')).join(), /'planet' does not exist/)
    })
  }

  test('must get one with every change of the spec', () => {
    assert.deepEqual(validate({ clique: legacy('rack') }, { clique: legacy('rack') }), [
      `${ofClique}.topologyName: Required value: topologyName is required when topologyConstraint is set and cannot be inherited`,
    ])
  })

  test('may not change its domain in the process', () => {
    assert.deepEqual(
      validate({ clique: legacy('rack') }, { clique: legacy('zone', { topologyName: 'site' }) }),
      [
        `${ofClique}: Forbidden: PodClique 'web' topology constraint topologyName cannot be changed from '' to 'site'`,
      ],
    )
  })

  test('is valid if the name is inherited', () => {
    const constraints = { set: legacy('zone', { topologyName: 'site' }), clique: legacy('rack') }
    assert.deepEqual(validate(constraints, constraints), [])
  })

  test('cannot be resolved with several names, or with a constraint without domains', () => {
    const several = {
      set: legacy('zone', { topologyName: 'site' }),
      group: { ...site('rack'), topologyName: 'annex' },
      clique: legacy('host'),
    }
    assert.deepEqual(validate(several, several), [
      `${ofSet}.topologyName: Internal error: multiple topology names within a single PodCliqueSet are not supported`,
    ])
    const empty = { set: { topologyName: 'site' }, clique: legacy('rack') }
    assert.deepEqual(validate(empty, empty), [
      `${ofSet}.topologyName: Internal error: topology constraints require at least one pack domain`,
    ])
  })
})
