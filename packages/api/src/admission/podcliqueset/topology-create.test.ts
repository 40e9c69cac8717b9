// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import { clique, judgeNew, refusals, sampleSet } from '../sample-sets.ts'

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

/** A clique of its own and one in a scaling group. */
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

const judge = (constraints: Constraints): string[] => refusals(setOf(constraints), { topology: true })
const site = (required?: string, preferred?: string): TopologyConstraint => ({
  topologyName: 'site',
  pack: { ...(required && { required }), ...(preferred && { preferred }) },
})
const nameless = (required: string): TopologyConstraint => ({ pack: { required } })

test('with topology-aware scheduling disabled, every constraint is refused with its domains', () => {
  const disabled = 'topology constraints are not allowed when Topology Aware Scheduling is disabled'
  const set = setOf({
    set: site('zone', 'rack'),
    solo: site('rack', 'rack'),
    member: { packDomain: 'host', pack: { preferred: 'host' } },
    group: site(undefined, 'rack'),
  })
  assert.deepEqual(refusals(set), [
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
      'is missing wherever there is nobody to inherit from; groups are reported before cliques',
      { solo: nameless('zone'), group: nameless('zone'), member: site('zone') },
      [`${ofGroup}.${missing}`, `${ofSolo}.${missing}`],
    ],
    [
      'is not inherited by a clique of its own from somebody else’s group',
      { group: site('zone'), solo: nameless('rack') },
      [`${ofSolo}.${missing}`],
    ],
    [
      'is the one of the set where that names one',
      { set: site('zone'), group: { ...site('zone'), topologyName: 'annex' }, member: site('host') },
      [`${ofGroup}.topologyName: Invalid value: "annex": ${different}`],
    ],
    [
      'is the one of the group for its members',
      { group: site('zone'), member: { ...site('host'), topologyName: 'annex' } },
      [`${ofMember}.topologyName: Invalid value: "annex": ${different}`],
    ],
    [
      'is the same everywhere, also where nobody inherits',
      { solo: site('zone'), group: { ...site('zone'), topologyName: 'annex' } },
      [
        `${ofGroup}.topologyName: Invalid value: "annex": ${different}`,
        `${ofSolo}.topologyName: Invalid value: "site": ${different}`,
      ],
    ],
    [
      'is reported wherever it is given, together with those that are missing',
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
      'is that of a binding, and is reported at the set',
      { solo: { ...site('zone'), topologyName: 'no "where"' } },
      [
        `${ofSet}.topologyName: Invalid value: "no \\"where\\"": ClusterTopologyBinding "no \\"where\\"" not found`,
      ],
    ],
    [
      'is of no use when the binding cannot be read',
      { set: { ...site('zone'), topologyName: 'broken' } },
      [`${ofSet}.topologyName: Internal error: failed to fetch ClusterTopologyBinding "broken": timeout`],
    ],
  ]
  for (const [title, constraints, expected] of cases) {
    test(title, () => {
      assert.deepEqual(judge(constraints), expected)
    })
  }
})

test('domains exist in the topology; all that do not are reported, and the hierarchy is not judged then', () => {
  const unknown = (domain: string): string =>
    `Invalid value: "${domain}": topology domain '${domain}' does not exist in cluster topology [region zone block rack host]`
  assert.deepEqual(
    judge({
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

describe('nothing is packed more narrowly than what it contains', () => {
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
      assert.deepEqual(judge(constraints), expected)
    })
  }
})

/** By kube-scheduler, which the sets of this file are for. */
const unkept =
  'topology constraints are not enforced by the scheduler "default-scheduler": its pods are placed wherever they fit'

test('constraints that the scheduler does not keep give a warning', () => {
  const warnings = (set: PodCliqueSet, schedulers?: string[]) =>
    judgeNew(set, { topology: true, ...(schedulers && { schedulers }) }).warnings
  assert.deepEqual(warnings(setOf({ solo: site('rack') })), [unkept])
  assert.deepEqual(warnings(setOf({})), [])
  const queued = setOf({ solo: site('rack') })
  queued.metadata.labels = { 'kai.scheduler/queue': 'a' }
  for (const one of queued.spec.template.cliques) one.spec.podSpec.schedulerName = 'kai-scheduler'
  assert.deepEqual(warnings(queued, ['kai-scheduler']), [])
})

describe('a preference that is broader than the requirement', () => {
  const redundant = (field: string): string =>
    `${field}.pack.preferred is coarser than ${field}.pack.required and is redundant`
  const warnings = (constraints: Constraints): readonly string[] =>
    judgeNew(setOf(constraints), { topology: true }).warnings

  test('is redundant, and gives a warning', () => {
    assert.deepEqual(
      warnings({ set: site('rack', 'zone'), solo: site('host', 'rack'), group: site('rack', 'block') }),
      [redundant(ofSet), redundant(ofSolo), redundant(ofGroup), unkept],
    )
  })

  test('gives it also when the set is refused for something else', () => {
    const outcome = judgeNew(setOf({ set: site('host', 'rack'), solo: site('zone') }), { topology: true })
    assert.equal(outcome.errors.length, 1)
    assert.deepEqual(outcome.warnings, [redundant(ofSet)])
  })

  test('is none when equal, narrower or unknown', () => {
    assert.deepEqual(warnings({ set: site('rack', 'rack'), solo: site('rack', 'host') }), [unkept])
    assert.deepEqual(warnings({ set: site('planet', 'zone') }), [])
  })
})
