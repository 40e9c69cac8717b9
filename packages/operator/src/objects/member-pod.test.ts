// SPDX-License-Identifier: Apache-2.0

// Tests the pods of scaling group members: the fields beyond those of a standalone pod, and their shared claims.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation, type Container, type PodSpec } from '@grove/api'
import { env, main, plain, plainBut, podIn } from '../testing/built-pod.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'

const fromLabel = (name: string, key: string) => ({
  name,
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${key}']` } },
})

/** The variables of a member of a group whose template has five pods. */
const envOf = (name: string) => [
  ...env.map(one => (one.name === 'GROVE_PCLQ_NAME' ? { ...one, value: name } : one)),
  fromLabel('GROVE_PCSG_NAME', 'grove.io/podcliquescalinggroup'),
  { name: 'GROVE_PCSG_TEMPLATE_NUM_PODS', value: '5' },
  fromLabel('GROVE_PCSG_INDEX', 'grove.io/podcliquescalinggroup-replica-index'),
]

const member = (podSpec: Partial<PodSpec> = {}) => {
  const a = clique('a', { replicas: 2 })
  return sampleSet({
    cliques: [
      { ...a, spec: { ...a.spec, podSpec: { ...a.spec.podSpec, ...podSpec } as PodSpec } },
      clique('b', { replicas: 3 }),
    ],
    groups: [group('g', ['a', 'b'], 2, 1)],
  })
}

/** A pod of clique `a` in a replica of the group, with these additions to its spec. */
function memberPod(replica: number, gang: object, spec: object = {}): object {
  const name = `w-0-g-${replica}-a`
  return plainBut({
    metadata: {
      generateName: `${name}-`,
      ownerReferences: [{ ...plain.metadata.ownerReferences[0], name }],
    },
    labels: {
      'app.kubernetes.io/component': 'pcsg-podclique',
      'app.kubernetes.io/name': name,
      'grove.io/podclique': name,
      'grove.io/podcliquescalinggroup': 'w-0-g',
      'grove.io/podcliquescalinggroup-replica-index': String(replica),
      ...gang,
    },
    spec: { hostname: `${name}-0`, containers: [{ ...main, env: envOf(name) }], ...spec },
  })
}

test('a pod of a group replica below minAvailable belongs to the base gang', () =>
  assert.deepEqual(
    podIn({ set: member(), clique: 'w-0-g-0-a' }),
    memberPod(0, { 'grove.io/podgang': 'w-0' }),
  ))

test('a pod of a group replica above minAvailable belongs to a scaled gang and names its base gang', () =>
  assert.deepEqual(
    podIn({ set: member(), clique: 'w-0-g-1-a' }),
    memberPod(1, { 'grove.io/podgang': 'w-0-g-0', 'grove.io/base-podgang': 'w-0' }),
  ))

test('user variables with a reserved name are removed from every container; the others keep their order', () => {
  const own = [
    { name: 'FIRST', value: '$(GROVE_PCSG_NAME)' },
    { name: 'GROVE_PCSG_INDEX', value: 'mine' },
    { name: 'GROVE_PCLQ_POD_INDEX', value: 'mine' },
    { name: 'LAST', value: '$(FIRST)' },
  ]
  const download: Container = { name: 'download', image: 'registry.example/get:1', env: own }
  const side: Container = { name: 'side', image: 'registry.example/side:1', env: own }
  const all = [...envOf('w-0-g-0-a'), own[0]!, own[3]!]
  assert.deepEqual(
    podIn({ set: member({ containers: [side], initContainers: [download] }), clique: 'w-0-g-0-a' }),
    memberPod(
      0,
      { 'grove.io/podgang': 'w-0' },
      {
        containers: [{ ...side, env: all }],
        initContainers: [{ ...download, env: all }],
      },
    ),
  )
})

test('claims are ordered: pod spec, NVLink domain, set, group, clique; a pod has only the claims that apply to it', () => {
  const bare = member({
    resourceClaims: [{ name: 'own', resourceClaimTemplateName: 'nic' }],
    containers: [
      { name: 'main', image: 'registry.example/main:1', resources: { limits: { 'nvidia.com/gpu': '8' } } },
    ],
  })
  const set = sampleSet({
    cliques: bare.spec.template.cliques.map(one => ({
      ...one,
      annotations: { [annotation.mnnvlGroup]: 'fabric' },
      resourceSharing: [
        { name: 'each', scope: 'PerReplica' as const },
        { name: 'all', scope: 'AllReplicas' as const },
      ],
    })),
    groups: [
      {
        ...group('g', ['a', 'b'], 2, 1),
        resourceSharing: [
          { name: 'each', scope: 'PerReplica' },
          { name: 'all', scope: 'AllReplicas', filter: { childCliqueNames: ['a'] } },
          { name: 'others', scope: 'AllReplicas', filter: { childCliqueNames: ['b'] } },
        ],
      },
    ],
    template: {
      resourceSharing: [
        { name: 'each', scope: 'PerReplica' },
        { name: 'all', scope: 'AllReplicas', filter: { childScalingGroupNames: ['g'] } },
        { name: 'others', scope: 'AllReplicas', filter: { childCliqueNames: ['b'] } },
      ],
    },
  })
  const { spec } = podIn({ set, clique: 'w-0-g-1-a', index: 1 })
  const shared = [
    'w-all-all',
    'w-0-each',
    'w-0-g-all-all',
    'w-0-g-1-each',
    'w-0-g-1-a-all-all',
    'w-0-g-1-a-1-each',
  ]
  assert.deepEqual(spec?.resourceClaims, [
    { name: 'own', resourceClaimTemplateName: 'nic' },
    { name: 'mnnvl-claim', resourceClaimTemplateName: 'w-0-fabric' },
    ...shared.map(name => ({ name, resourceClaimName: name })),
  ])
  assert.deepEqual(
    spec.containers[0]!.resources?.claims?.map(({ name }) => name),
    ['mnnvl-claim', ...shared],
  )
})
