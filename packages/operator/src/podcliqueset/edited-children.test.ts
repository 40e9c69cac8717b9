// SPDX-License-Identifier: Apache-2.0

// Tests which edits of a set's children the operator reverts, and which it keeps.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KubeObject, Stored } from '@grove/kube'
import type { MergePatch } from '../apply/intent.ts'
import { podRole, podRoleBinding, serviceAccount } from '../objects/identity.ts'
import { buildAll, wantedObject } from '../objects/wanted-child.ts'
import {
  bindsAnotherRole,
  patchAutoscaler,
  patchClique,
  patchHeldClique,
  patchRole,
  patchRoleBinding,
  patchScalingGroup,
  patchService,
  patchServiceAccount,
} from '../ownership/child-fields.ts'
import { planChildren } from '../ownership/child-objects.ts'
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

describe('fields of children that are reverted after an edit, and fields that are not', () => {
  const stored = <T extends KubeObject>(object: T, edit: object = {}): Stored<T> =>
    merged({ ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1' } }, edit) as Stored<T>
  const [service] = buildAll(wantedServices(set))
  const [autoscaler] = buildAll(wantedAutoscalers(set))
  const [web0] = buildAll(wantedCliques(set, hashes))
  const [group0] = buildAll(wantedScalingGroups(set))
  const role = podRole(set)
  const binding = podRoleBinding(set)
  const account = serviceAccount(set)
  const relabelled = { metadata: { labels: { team: 'x', 'app.kubernetes.io/component': 'x' } } }
  const table: [what: string, patch: MergePatch | undefined, wanted: MergePatch | undefined][] = [
    [
      'account: all labels, and automountServiceAccountToken',
      patchServiceAccount(stored(account, { ...relabelled, automountServiceAccountToken: false }), account),
      {
        metadata: { labels: { team: null, 'app.kubernetes.io/component': 'pod-service-account' } },
        automountServiceAccountToken: true,
      },
    ],
    [
      'account: secrets, pull secrets and annotations are kept',
      patchServiceAccount(
        stored(account, {
          metadata: { annotations: { mine: 'yes' } },
          secrets: [{ name: 's' }],
          imagePullSecrets: [{ name: 'p' }],
        }),
        account,
      ),
      undefined,
    ],
    ['role: rules', patchRole(stored(role, { rules: [] }), role), { rules: role.rules! }],
    [
      'binding: subjects',
      patchRoleBinding(stored(binding, { subjects: [] }), binding),
      { subjects: binding.subjects! },
    ],
    [
      'service: selector and publishNotReadyAddresses',
      patchService(
        stored(service!, { spec: { selector: { mine: 'yes' }, publishNotReadyAddresses: true } }),
        service!,
      ),
      { spec: { selector: { mine: null }, publishNotReadyAddresses: null } },
    ],
    [
      'service: defaults of the API server, and ports, are kept',
      patchService(
        stored(service!, {
          spec: {
            clusterIPs: ['None'],
            ipFamilies: ['IPv4'],
            ipFamilyPolicy: 'SingleStack',
            type: 'ClusterIP',
            sessionAffinity: 'None',
            internalTrafficPolicy: 'Cluster',
            ports: [{ port: 80 }],
          },
        }),
        service!,
      ),
      undefined,
    ],
    [
      'autoscaler: minReplicas, maxReplicas and target',
      patchAutoscaler(
        stored(autoscaler!, { spec: { minReplicas: 3, maxReplicas: 9, scaleTargetRef: { name: 'x' } } }),
        autoscaler!,
      ),
      { spec: { minReplicas: 1, maxReplicas: 4, scaleTargetRef: { name: 'w-0-web' } } },
    ],
    [
      'autoscaler: behavior, and metrics if the set names none, are kept',
      patchAutoscaler(
        stored(autoscaler!, {
          spec: {
            behavior: { scaleDown: { stabilizationWindowSeconds: 7 } },
            metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }],
          },
        }),
        autoscaler!,
      ),
      undefined,
    ],
    [
      'clique: all fields except replicas',
      patchClique(
        stored(web0!, {
          ...relabelled,
          spec: { roleName: 'x', minAvailable: 2, replicas: 9, startsAfter: ['x'] },
        }),
        web0!,
      ),
      {
        metadata: { labels: { team: 'serving', 'app.kubernetes.io/component': 'pcs-podclique' } },
        spec: { roleName: 'web', minAvailable: 1, startsAfter: null },
      },
    ],
    [
      'clique: zero replicas are kept',
      patchClique(stored(web0!, { spec: { replicas: 0 } }), web0!),
      undefined,
    ],
    [
      'clique that an update has not reached: nothing of its pod template',
      patchHeldClique(stored(web0!, { spec: { roleName: 'x', minAvailable: 2, replicas: 9 } }), web0!),
      { spec: { minAvailable: 1 } },
    ],
    [
      'group: all fields except replicas',
      patchScalingGroup(
        stored(group0!, {
          metadata: { annotations: { mine: 'yes' } },
          spec: { replicas: 0, minAvailable: 1, cliqueNames: ['x'] },
        }),
        group0!,
      ),
      { metadata: { annotations: { mine: null } }, spec: { minAvailable: 2, cliqueNames: ['work'] } },
    ],
  ]
  for (const [what, patch, wanted] of table) test(what, () => assert.deepEqual(patch, wanted))

  test('a binding to another role is deleted and recreated, because its roleRef is immutable', () => {
    const plan = (existing: KubeObject) =>
      planChildren({
        wanted: [wantedObject(binding)],
        existing: [existing as Stored<typeof binding>],
        ownerUid: 'set-uid',
        patch: patchRoleBinding,
        isBeyondRepair: bindsAnotherRole,
      })
    const wrong = plan(stored(binding, { roleRef: { name: 'admin' } }))
    assert.deepEqual([wrong.remove.length, wrong.patch.length, wrong.create.length], [1, 0, 0])
    assert.equal(plan(stored(binding)).remove.length, 0)
  })

  test('no patch of an existing child contains its replica count', () => {
    for (const replicas of [0, 1, 2, 50]) {
      const changed = { spec: { replicas, minAvailable: 40, roleName: 'x', cliqueNames: [] } }
      for (const patch of [
        patchClique(stored(web0!, changed), web0!),
        patchHeldClique(stored(web0!, changed), web0!),
        patchScalingGroup(stored(group0!, changed), group0!),
      ])
        assert.ok(!('replicas' in (patch!.spec as object)))
    }
  })
})

function merged(into: unknown, from: unknown): unknown {
  if (!isMap(into) || !isMap(from)) return from
  return Object.fromEntries(
    [...new Set([...Object.keys(into), ...Object.keys(from)])].map(key => [
      key,
      key in from ? merged(into[key], from[key]) : into[key],
    ]),
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
