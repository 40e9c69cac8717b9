// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterTopologyBinding, TopologyConstraint } from '@grove/api'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { topologyCondition } from './topology-condition.ts'

interface Constraints {
  readonly set?: TopologyConstraint
  readonly group?: TopologyConstraint
  readonly clique?: TopologyConstraint
}

const bindings: Record<string, ClusterTopologyBinding> = {
  racks: {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name: 'racks' },
    spec: {
      levels: [
        { domain: 'zone', key: 'topology.kubernetes.io/zone' },
        { domain: 'rack', key: 'example/rack' },
      ],
    },
  },
}

function reported(on: boolean, constraints: Constraints) {
  const web = { ...clique('web'), ...(constraints.clique && { topologyConstraint: constraints.clique }) }
  const eng = {
    ...group('eng', ['work']),
    ...(constraints.group && { topologyConstraint: constraints.group }),
  }
  const set = sampleSet({
    cliques: [web, clique('work')],
    groups: [eng],
    ...(constraints.set && { template: { topologyConstraint: constraints.set } }),
  })
  const value = topologyCondition(set, on, name => bindings[name])
  return value && `${value.status} ${value.reason}: ${value.message}`
}

const racks = (required: string, preferred?: string): TopologyConstraint => ({
  topologyName: 'racks',
  pack: { required, ...(preferred && { preferred }) },
})
const disabled =
  'Unknown TopologyAwareSchedulingDisabled: Topology constraints are defined but Topology Aware Scheduling is disabled'
const available = 'False AllClusterTopologyLevelsAvailable: All topology levels are available'
const unavailable = (domains: string) =>
  `True ClusterTopologyLevelsUnavailable: Unavailable topology domains: [${domains}]`

const table: [what: string, on: boolean, constraints: Constraints, reported: string | undefined][] = [
  ['switched off, with a domain', false, { clique: racks('rack') }, disabled],
  ['switched off, with a preference only', false, { set: { pack: { preferred: 'rack' } } }, disabled],
  ['switched off, without a domain', false, { set: { topologyName: 'racks' } }, undefined],
  ['switched off, without constraints', false, {}, undefined],
  ['no constraints', true, {}, 'False AllClusterTopologyLevelsAvailable: No topology constraints defined'],
  [
    'no topology name',
    true,
    { group: { pack: { required: 'rack' } } },
    'Unknown TopologyNameMissing: PodCliqueSet topology constraints must include topologyName',
  ],
  [
    'a missing topology',
    true,
    { set: { topologyName: 'halls', pack: { required: 'rack' } } },
    'Unknown ClusterTopologyNotFound: ClusterTopologyBinding resource not found',
  ],
  ['all levels exist', true, { set: racks('zone', 'rack'), clique: racks('rack') }, available],
  ['the former field', true, { set: { topologyName: 'racks', packDomain: 'zone' } }, available],
  ['one level missing', true, { set: racks('zone'), group: racks('hall') }, unavailable('hall')],
  [
    'several missing levels are sorted and listed once, wherever they occur',
    true,
    { set: racks('row', 'hall'), group: racks('aisle'), clique: racks('hall', 'host') },
    unavailable('aisle hall host row'),
  ],
  [
    'the outermost name decides',
    true,
    { group: racks('rack'), clique: { topologyName: 'halls', pack: { required: 'zone' } } },
    available,
  ],
]
for (const [what, on, constraints, wanted] of table)
  test(`topology: ${what}`, () => assert.equal(reported(on, constraints), wanted))
