// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, type Pod, type ResourceClaimTemplate } from '@grove/api'
import { type RenderedObject, render } from '../render.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import type { StoredSet } from './stored.ts'

const template = (name: string) => ({
  name,
  templateSpec: { spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } } },
})

function rendered(set: StoredSet): { claims: RenderedObject[]; pods: Pod[] } {
  const external = { metadata: { name: 'external', namespace: 'serving' }, spec: template('').templateSpec }
  const objects = render(set, {
    configuration: defaultConfiguration(),
    backends: schedulerBackends(['default-scheduler'], 'default-scheduler'),
    waiterImage: undefined,
    topologyBindings: [],
    claimTemplates: [external as ResourceClaimTemplate],
    podTemplateHashes: () => ({}),
  })
  return {
    claims: objects.filter(({ kind }) => kind === 'ResourceClaim'),
    pods: objects.filter(({ kind }) => kind === 'Pod') as unknown as Pod[],
  }
}

const users = (pods: readonly Pod[], claim: string) =>
  pods.filter(pod => pod.spec?.resourceClaims?.some(one => one.resourceClaimName === claim)).length

test('two replicas with claims at every level have nine claims, each used only by its pods', () => {
  const set = sampleSet({
    replicas: 2,
    cliques: [
      { ...clique('solo', { replicas: 2 }), resourceSharing: [{ name: 'own', scope: 'AllReplicas' }] },
      clique('a', { replicas: 3 }),
      clique('b', { replicas: 2 }),
    ],
    groups: [{ ...group('g', ['a', 'b'], 2), resourceSharing: [{ name: 'team', scope: 'PerReplica' }] }],
    template: {
      resourceClaimTemplates: ['wide', 'each', 'team', 'own'].map(template),
      resourceSharing: [
        { name: 'wide', scope: 'AllReplicas' },
        { name: 'each', scope: 'PerReplica' },
      ],
    },
  })
  const { claims, pods } = rendered(set)
  assert.equal(pods.length, 24)
  assert.deepEqual(Object.fromEntries(claims.map(({ metadata: { name } }) => [name, users(pods, name)])), {
    'w-all-wide': 24,
    'w-0-each': 12,
    'w-1-each': 12,
    'w-0-g-0-team': 5,
    'w-0-g-1-team': 5,
    'w-1-g-0-team': 5,
    'w-1-g-1-team': 5,
    'w-0-solo-all-own': 2,
    'w-1-solo-all-own': 2,
  })
})

test('members of a group have separate claims in every group replica, named after the whole clique', () => {
  const shared = { resourceSharing: [{ name: 'external', scope: 'AllReplicas' as const }] }
  const set = sampleSet({
    cliques: [
      { ...clique('pre'), ...shared },
      { ...clique('dec'), ...shared },
    ],
    groups: [{ ...group('m', ['pre', 'dec'], 2), resourceSharing: [{ name: 'team', scope: 'PerReplica' }] }],
    template: { resourceClaimTemplates: [template('team')] },
  })
  assert.deepEqual(
    rendered(set)
      .claims.map(({ metadata }) => metadata.name)
      .sort(),
    [
      'w-0-m-0-dec-all-external',
      'w-0-m-0-pre-all-external',
      'w-0-m-0-team',
      'w-0-m-1-dec-all-external',
      'w-0-m-1-pre-all-external',
      'w-0-m-1-team',
    ],
  )
})

test('filters name cliques or groups; a name never matches an object of the other kind', () => {
  const set = sampleSet({
    cliques: [clique('twin'), clique('member')],
    groups: [group('twin', ['member'])],
    template: {
      resourceClaimTemplates: ['clique', 'group'].map(template),
      resourceSharing: [
        { name: 'clique', scope: 'AllReplicas', filter: { childCliqueNames: ['twin'] } },
        { name: 'group', scope: 'AllReplicas', filter: { childScalingGroupNames: ['twin'] } },
      ],
    },
  })
  const used = rendered(set).pods.map(pod => [
    pod.metadata.labels?.['grove.io/podclique'],
    pod.spec?.resourceClaims?.map(claim => claim.name),
  ])
  assert.deepEqual(Object.fromEntries(used), {
    'w-0-twin': ['w-all-clique'],
    'w-0-twin-0-member': ['w-all-group'],
  })
})
