// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet, validateNew } from '../../testing/sample-sets.ts'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'

const ofSet = 'spec.template.topologyConstraint'
const ofSolo = 'spec.template.cliques[0].topologyConstraint'
const ofMember = 'spec.template.cliques[1].topologyConstraint'
const ofGroup = 'spec.template.podCliqueScalingGroups[0].topologyConstraint'

interface Constraints {
  set?: TopologyConstraint
  solo?: TopologyConstraint
  member?: TopologyConstraint
  group?: TopologyConstraint
}

/** A standalone clique and one in a scaling group. */
function setOf({ set, solo, member, group }: Constraints): PodCliqueSet {
  const at = (topologyConstraint?: TopologyConstraint): object =>
    topologyConstraint ? { topologyConstraint } : {}
  return sampleSet({
    ...at(set),
    cliques: [clique('solo', {}, at(solo)), clique('member', {}, at(member))],
    podCliqueScalingGroups: [
      { name: 'group', cliqueNames: ['member'], replicas: 1, minAvailable: 1, ...at(group) },
    ],
  })
}

const validate = (constraints: Constraints): string[] => errorsOf(setOf(constraints), { topology: true })
const site = (required?: string, preferred?: string): TopologyConstraint => ({
  topologyName: 'site',
  pack: { ...(required && { required }), ...(preferred && { preferred }) },
})
const nameless = (required: string): TopologyConstraint => ({ pack: { required } })

test('with topology-aware scheduling disabled, every constraint is rejected with its domains', () => {
  const disabled = 'topology constraints are not allowed when Topology Aware Scheduling is disabled'
  const set = setOf({
    set: site('zone', 'rack'),
    solo: site('rack', 'rack'),
    member: { packDomain: 'host', pack: { preferred: 'host' } },
    group: site(undefined, 'rack'),
  })
  assert.deepEqual(errorsOf(set), [
    `${ofSet}: Invalid value: ["zone","rack"]: ${disabled}`,
    `${ofSolo}: Invalid value: ["rack"]: ${disabled}`,
    `${ofMember}: Invalid value: ["host"]: ${disabled}`,
    `${ofGroup}: Invalid value: ["rack"]: ${disabled}`,
  ])
})

describe('the name of the topology', () => {
  const missing =
    'topologyName: Required value: topologyName is required when topologyConstraint is set and cannot be inherited'
  const different =
    'all topologyConstraint.topologyName values within a PodCliqueSet must match in the current implementation'

  const cases: [title: string, constraints: Constraints, expected: string[]][] = [
    ['is inherited from the set', { set: site('zone'), solo: nameless('rack'), group: nameless('rack') }, []],
    ['is inherited by members from their group', { group: site('zone'), member: nameless('rack') }, []],
    ['is missing at the set', { set: nameless('zone') }, [`${ofSet}.${missing}`]],
    [
      'is missing wherever it cannot be inherited; groups are reported before cliques',
      { solo: nameless('zone'), group: nameless('zone'), member: site('zone') },
      [`${ofGroup}.${missing}`, `${ofSolo}.${missing}`],
    ],
    [
      'is not inherited by a standalone clique from a group',
      { group: site('zone'), solo: nameless('rack') },
      [`${ofSolo}.${missing}`],
    ],
    [
      'must be that of the set',
      { set: site('zone'), group: { ...site('zone'), topologyName: 'annex' }, member: site('host') },
      [`${ofGroup}.topologyName: Invalid value: "annex": ${different}`],
    ],
    [
      'of a member must be that of its group',
      { group: site('zone'), member: { ...site('host'), topologyName: 'annex' } },
      [`${ofMember}.topologyName: Invalid value: "annex": ${different}`],
    ],
    [
      'is the same everywhere, also without inheritance',
      { solo: site('zone'), group: { ...site('zone'), topologyName: 'annex' } },
      [
        `${ofGroup}.topologyName: Invalid value: "annex": ${different}`,
        `${ofSolo}.topologyName: Invalid value: "site": ${different}`,
      ],
    ],
    [
      'is reported wherever it is set, together with missing ones',
      { set: nameless('zone'), solo: site('zone'), group: { ...site('zone'), topologyName: 'annex' } },
      [
        `${ofSet}.${missing}`,
        `${ofGroup}.topologyName: Invalid value: "annex": ${different}`,
        `${ofSolo}.topologyName: Invalid value: "site": ${different}`,
      ],
    ],
    [
      'is reported once where it contradicts the group, and the others are reported too',
      {
        group: site('zone'),
        member: { ...site('host'), topologyName: 'annex' },
        solo: { ...site('host'), topologyName: 'annex' },
      },
      [
        `${ofMember}.topologyName: Invalid value: "annex": ${different}`,
        `${ofGroup}.topologyName: Invalid value: "site": ${different}`,
        `${ofSolo}.topologyName: Invalid value: "annex": ${different}`,
      ],
    ],
    [
      'must be that of a binding, and is reported at the set',
      { solo: { ...site('zone'), topologyName: 'no "where"' } },
      [
        `${ofSet}.topologyName: Invalid value: "no \\"where\\"": ClusterTopologyBinding "no \\"where\\"" not found`,
      ],
    ],
    [
      'causes an internal error if the binding cannot be read',
      { set: { ...site('zone'), topologyName: 'broken' } },
      [`${ofSet}.topologyName: Internal error: failed to fetch ClusterTopologyBinding "broken": timeout`],
    ],
  ]
  for (const [title, constraints, expected] of cases) {
    test(title, () => {
      assert.deepEqual(validate(constraints), expected)
    })
  }
})

test('domains must exist in the topology: all unknown ones are reported, and the hierarchy is not validated', () => {
  const unknown = (domain: string): string =>
    `Invalid value: "${domain}": topology domain '${domain}' does not exist in cluster topology [region zone block rack host]`
  assert.deepEqual(
    validate({
      set: site('planet', 'moon'),
      solo: { topologyName: 'site', packDomain: 'city' },
      member: site('region'),
      group: site('host', 'sun'),
    }),
    [
      `${ofSet}.pack.required: ${unknown('planet')}`,
      `${ofSet}.pack.preferred: ${unknown('moon')}`,
      `${ofSolo}.packDomain: ${unknown('city')}`,
      `${ofGroup}.pack.preferred: ${unknown('sun')}`,
    ],
  )
})

describe('a part is never packed more broadly than the whole', () => {
  const narrower = (owner: string, outer: string, child: string, inner: string): string =>
    `Invalid value: "${outer}": ${owner} topology constraint domain '${outer}' is narrower than ${child} topology constraint domain '${inner}'`

  const cases: [title: string, constraints: Constraints, expected: string[]][] = [
    [
      'the same domain everywhere',
      { set: site('rack', 'rack'), solo: site('rack', 'rack'), group: site('rack') },
      [],
    ],
    [
      'narrower inside',
      { set: site('zone'), solo: site('host'), group: site('rack'), member: site('host') },
      [],
    ],
    ['required is not compared with preferred', { set: site('host'), solo: site(undefined, 'zone') }, []],
    [
      'set, cliques, groups, members, in this order; required first',
      {
        set: site('host', 'host'),
        solo: site('rack', 'zone'),
        group: site('rack', 'zone'),
        member: site('zone', 'region'),
      },
      [
        `${ofSet}: ${narrower('PodCliqueSet', 'host', "PodClique 'solo'", 'rack')}`,
        `${ofSet}.pack.preferred: ${narrower('PodCliqueSet', 'host', "PodClique 'solo'", 'zone')}`,
        `${ofSet}: ${narrower('PodCliqueSet', 'host', "PodClique 'member'", 'zone')}`,
        `${ofSet}.pack.preferred: ${narrower('PodCliqueSet', 'host', "PodClique 'member'", 'region')}`,
        `${ofSet}: ${narrower('PodCliqueSet', 'host', "PodCliqueScalingGroup 'group'", 'rack')}`,
        `${ofSet}.pack.preferred: ${narrower('PodCliqueSet', 'host', "PodCliqueScalingGroup 'group'", 'zone')}`,
        `${ofGroup}: ${narrower("PodCliqueScalingGroup 'group'", 'rack', "PodClique 'member'", 'zone')}`,
        `${ofGroup}.pack.preferred: ${narrower("PodCliqueScalingGroup 'group'", 'zone', "PodClique 'member'", 'region')}`,
      ],
    ],
  ]
  for (const [title, constraints, expected] of cases) {
    test(title, () => {
      assert.deepEqual(validate(constraints), expected)
    })
  }
})

/** Warnings about kube-scheduler, which schedules the sets of this file. */
const unkept =
  'topology constraints are not enforced by scheduler "default-scheduler": it schedules each pod on any node with room; kai-scheduler and grove-scheduler enforce them'

test('constraints that the scheduler does not honour cause a warning', () => {
  const warnings = (set: PodCliqueSet, schedulers?: string[]) =>
    validateNew(set, { topology: true, ...(schedulers && { schedulers }) }).warnings
  assert.deepEqual(warnings(setOf({ solo: site('rack') })), [unkept])
  assert.deepEqual(warnings(setOf({})), [])
  const queued = setOf({ solo: site('rack') })
  queued.metadata.labels = { 'kai.scheduler/queue': 'a' }
  for (const one of queued.spec.template.cliques) one.spec.podSpec.schedulerName = 'kai-scheduler'
  assert.deepEqual(warnings(queued, ['kai-scheduler']), [])
})

describe('a preferred domain that is broader than the required one', () => {
  const redundant = (field: string): string =>
    `${field}.pack.preferred is coarser than ${field}.pack.required and is redundant`
  const warnings = (constraints: Constraints): readonly string[] =>
    validateNew(setOf(constraints), { topology: true }).warnings

  test('is redundant and causes a warning', () => {
    assert.deepEqual(
      warnings({ set: site('rack', 'zone'), solo: site('host', 'rack'), group: site('rack', 'block') }),
      [redundant(ofSet), redundant(ofSolo), redundant(ofGroup), unkept],
    )
  })

  test('causes the warning also if the set is rejected for another reason', () => {
    const outcome = validateNew(setOf({ set: site('host', 'rack'), solo: site('zone') }), { topology: true })
    assert.equal(outcome.errors.length, 1)
    assert.deepEqual(outcome.warnings, [redundant(ofSet)])
  })

  test('is not redundant if equal, narrower or unknown', () => {
    assert.deepEqual(warnings({ set: site('rack', 'rack'), solo: site('rack', 'host') }), [unkept])
    assert.deepEqual(warnings({ set: site('planet', 'zone') }), [])
  })
})
