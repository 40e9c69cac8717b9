// SPDX-License-Identifier: Apache-2.0

// Tests every object that a set creates directly: its name, labels and owner.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KubeObject } from '@grove/kube'
import { basePodGang } from '../layout/layout.ts'
import { podRole, podRoleBinding, serviceAccount, tokenSecret } from '../objects/identity.ts'
import { buildAll } from '../objects/wanted-child.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { wantedAutoscalers, wantedCliques, wantedScalingGroups, wantedServices } from './children.ts'

const scaled = { minReplicas: 1, maxReplicas: 4 }
const web = clique('web', { replicas: 2, minAvailable: 1 })
const set = sampleSet({
  replicas: 2,
  cliques: [
    {
      ...web,
      labels: { team: 'serving', 'app.kubernetes.io/component': 'mine' },
      annotations: { note: 'kept', 'grove.io/topology-name': 'racks' },
      spec: { ...web.spec, autoScalingConfig: scaled },
    },
    clique('work'),
  ],
  groups: [{ ...group('g', ['work'], 3, 2), scaleConfig: scaled, annotations: { note: 'group' } }],
})
const hashes = { web: 'z1-web', work: 'z1-work' }

const owner = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodCliqueSet',
  name: 'w',
  uid: 'set-uid',
  controller: true,
  blockOwnerDeletion: true,
}
const everywhere = { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': 'w' }
const index = (replica: number) => ({ 'grove.io/podcliqueset-replica-index': String(replica) })

describe('the children of a set', () => {
  const table: [
    made: KubeObject[],
    component: string,
    named: [name: string, label: string, more: object][],
  ][] = [
    [[serviceAccount(set)], 'pod-service-account', [['w', 'w', {}]]],
    [[podRole(set)], 'pod-role', [['grove.io:pcs:w', 'grove.io-pcs-w', {}]]],
    [[podRoleBinding(set)], 'pod-role-binding', [['grove.io:pcs:w', 'grove.io-pcs-w', {}]]],
    [[tokenSecret(set)], 'pod-sa-token-secret', [['w-ic-sat', 'w-ic-sat', {}]]],
    [
      buildAll(wantedServices(set)),
      'pcs-headless-service',
      [
        ['w-0', 'w-0', index(0)],
        ['w-1', 'w-1', index(1)],
      ],
    ],
    [
      buildAll(wantedAutoscalers(set)),
      'pcs-hpa',
      ['w-0-web', 'w-0-g', 'w-1-web', 'w-1-g'].map(name => [name, name, {}]),
    ],
    [
      buildAll(wantedCliques(set, hashes)),
      'pcs-podclique',
      [0, 1].map(replica => [
        `w-${replica}-web`,
        `w-${replica}-web`,
        {
          ...index(replica),
          'grove.io/podgang': `w-${replica}`,
          'grove.io/pod-template-hash': 'z1-web',
          team: 'serving',
        },
      ]),
    ],
    [
      buildAll(wantedScalingGroups(set)),
      'pcs-podcliquescalinggroup',
      [0, 1].map(replica => [`w-${replica}-g`, `w-${replica}-g`, index(replica)]),
    ],
  ]
  for (const [made, component, named] of table)
    test(`${made[0]!.kind}: names, labels and owner`, () =>
      assert.deepEqual(
        made.map(({ metadata }) => {
          const { name, namespace, labels, ownerReferences } = metadata!
          return { name, namespace, labels, ownerReferences }
        }),
        named.map(([name, nameLabel, more]) => ({
          name,
          namespace: 'serving',
          labels: {
            ...everywhere,
            'app.kubernetes.io/component': component,
            'app.kubernetes.io/name': nameLabel,
            ...more,
          },
          ownerReferences: [owner],
        })),
      ))

  test('their content', () => {
    const [clique0] = buildAll(wantedCliques(set, hashes))
    assert.deepEqual(
      {
        account: serviceAccount(set).automountServiceAccountToken,
        rules: podRole(set).rules,
        roleRef: podRoleBinding(set).roleRef,
        subjects: podRoleBinding(set).subjects,
        secret: [tokenSecret(set).type, tokenSecret(set).metadata.annotations],
        service: buildAll(wantedServices(set))[1]!.spec,
        autoscaler: buildAll(wantedAutoscalers(set))[1]!.spec,
        cliqueAnnotations: clique0!.metadata.annotations,
        groupAnnotations: buildAll(wantedScalingGroups(set))[0]!.metadata.annotations,
        group: buildAll(wantedScalingGroups(set))[0]!.spec,
      },
      {
        account: true,
        rules: [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'watch'] }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'grove.io:pcs:w' },
        subjects: [{ kind: 'ServiceAccount', name: 'w', namespace: 'serving' }],
        secret: ['kubernetes.io/service-account-token', { 'kubernetes.io/service-account.name': 'w' }],
        service: { clusterIP: 'None', selector: { ...everywhere, ...index(1) } },
        autoscaler: {
          ...scaled,
          scaleTargetRef: {
            apiVersion: 'grove.io/v1alpha1',
            kind: 'PodCliqueScalingGroup',
            name: 'w-0-g',
          },
        },
        cliqueAnnotations: { note: 'kept' },
        groupAnnotations: { note: 'group' },
        group: { replicas: 3, minAvailable: 2, cliqueNames: ['work'] },
      },
    )
  })

  test('cliques whose names have the same suffix have their own templates, in either order', () => {
    const names = ['worker', 'gpu-worker', 'r']
    for (const order of [names, names.toReversed()]) {
      const alike = sampleSet({
        cliques: order.map(name => ({
          ...clique(name, { replicas: name.length }),
          labels: { role: name },
        })),
      })
      assert.deepEqual(
        buildAll(wantedCliques(alike, {})).map(({ metadata, spec }) => [
          metadata.name,
          metadata.labels?.role,
          spec.roleName,
          spec.replicas,
        ]),
        order.map(name => [`w-0-${name}`, name, name, name.length]),
      )
      const members = { ...alike.spec.template, podCliqueScalingGroups: [group('g', names)] }
      assert.deepEqual(
        basePodGang({ ...alike, spec: { ...alike.spec, template: members } }, 0).cliques.map(instance => [
          instance.name,
          instance.template.name,
        ]),
        names.map(name => [`w-0-g-0-${name}`, name]),
      )
    }
  })
})
