// SPDX-License-Identifier: Apache-2.0

// Names that a set needs but another object has, and objects that a set no longer needs.
import assert from 'node:assert/strict'
import { isConflict, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { untilWhole } from './components.ts'
import { whole } from './manifests.ts'

const role = 'grove.io:pcs:whole'
const at = (harness: Harness, name: string) => ({ name, namespace: harness.namespace })

const codesOf = async (harness: Harness) =>
  ((await harness.set('whole'))?.status?.lastErrors ?? []).map(({ code }) => code).toSorted()

export const takenNameScenarios: Scenario[] = [
  {
    name: 'reports an object with a name that the set needs, leaves it alone, and continues in order when it is deleted',
    async run(harness) {
      const foreign: readonly [Resource<KubeObject>, string, object, string][] = [
        [resources.serviceAccounts, 'whole', {}, 'ERR_SYNC_SERVICEACCOUNT'],
        [resources.services, 'whole-0', { spec: { ports: [{ port: 80 }] } }, 'ERR_SYNC_PODCLIQUESET_SERVICE'],
        [
          resources.roleBindings,
          role,
          { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'other' } },
          'ERR_SYNC_ROLEBINDING',
        ],
        [
          resources.podCliques,
          'whole-0-web',
          {
            spec: {
              roleName: 'other',
              replicas: 1,
              podSpec: { containers: [{ name: 'main', image: 'registry.example/other:1' }] },
            },
          },
          'ERR_SYNC_PODCLIQUE',
        ],
        [
          resources.podCliqueScalingGroups,
          'whole-0-eng',
          { spec: { replicas: 1, minAvailable: 1, cliqueNames: ['other'] } },
          'ERR_SYNC_PODCLIQUESCALINGGROUP',
        ],
        [
          resources.autoscalers,
          'whole-0-web',
          {
            spec: {
              maxReplicas: 2,
              scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' },
            },
          },
          'ERR_SYNC_HPA',
        ],
      ]
      const made = new Map<string, string>()
      for (const [resource, name, rest, code] of foreign) {
        const object = { apiVersion: '', kind: resource.kind, metadata: at(harness, name), ...rest }
        const { group, version } = resource
        object.apiVersion = group ? `${group}/${version}` : version
        const { metadata } = await harness.client.create(resource, object as KubeObject)
        made.set(code, metadata.uid)
      }
      await harness.apply(whole())
      // Failures of one step are reported together; later steps have not started.
      const steps = [foreign.slice(0, 2), foreign.slice(2, 4), foreign.slice(4, 5), foreign.slice(5)]
      for (const together of steps) {
        const codes = together.map(([, , , code]) => code).toSorted()
        await harness.until(
          codes.join(' and '),
          () => codesOf(harness),
          seen => seen.join() === codes.join(),
        )
        for (const { description } of (await harness.set('whole'))!.status!.lastErrors!)
          assert.match(
            description,
            /^failed to sync \w+: .* exists and is not controlled by this PodCliqueSet/,
          )
        const letGo = (await harness.pods('whole')).filter(({ spec }) => !spec?.schedulingGates?.length)
        if (!codes.includes('ERR_SYNC_HPA'))
          assert.deepEqual(
            letGo,
            [],
            'no pod of an incomplete set is scheduled, but pods do not need autoscalers',
          )
        for (const [resource, name, , code] of together) {
          assert.equal((await harness.client.get(resource, at(harness, name))).metadata.uid, made.get(code))
          await harness.client.delete(resource, at(harness, name))
        }
      }
      await untilWhole(harness)
      assert.deepEqual(await codesOf(harness), [])
    },
  },
  {
    name: 'scale-in from three replicas to one deletes all objects of replicas 1 and 2, and changes nothing of replica 0',
    async run(harness) {
      const kinds = [
        resources.podCliques,
        resources.podCliqueScalingGroups,
        resources.podGangs,
        resources.services,
        resources.autoscalers,
        resources.pods,
      ] as Resource<KubeObject>[]
      const uidsOf = async (resource: Resource<KubeObject>, isOurs: (name: string) => boolean) =>
        (await harness.list(resource, 'whole'))
          .filter(({ metadata }) => isOurs(metadata.name))
          .map(({ metadata }) => metadata.uid)
          .toSorted()
      const isFirst = (name: string) => name === 'whole-0' || name.startsWith('whole-0-')
      await harness.apply(whole(3))
      await untilWhole(harness, 3)
      const first = await Promise.all(kinds.map(kind => uidsOf(kind, isFirst)))
      for (let attempt = 0; ; attempt++)
        try {
          await harness.scale(resources.podCliqueSets as never, 'whole', 1)
          break
        } catch (error) {
          if (!isConflict(error) || attempt > 5) throw error
        }
      for (const [index, kind] of kinds.entries())
        await harness.until(
          `the first replica's ${kind.kind} alone`,
          () => uidsOf(kind, () => true),
          seen => seen.join() === first[index]!.join(),
        )
      await untilWhole(harness)
    },
  },
]
