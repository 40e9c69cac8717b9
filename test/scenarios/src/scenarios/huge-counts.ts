// SPDX-License-Identifier: Apache-2.0

// Unreasonable replica counts, set through the scale subresource, which calls no webhook.
import assert from 'node:assert/strict'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

const huge = 2_000_000_000
/** Above every limit; expanding it would use more memory than the operator has. */
const targets = [
  { resource: resources.podCliqueSets, name: 'grouped', before: 1 },
  { resource: resources.podCliqueScalingGroups, name: 'grouped-0-eng', before: 2 },
  { resource: resources.podCliques, name: 'grouped-0-router', before: 2 },
] as const

interface Reported {
  readonly metadata: { readonly uid: string }
  readonly status?: {
    readonly lastErrors?: readonly { readonly code: string; readonly description: string }[]
  }
}

export const hugeCountScenarios: Scenario[] = [
  {
    name: 'a set, a scaling group and a clique that are scaled to two billion keep their pods, report an error, and recover',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      const uids = async () =>
        [
          ...(await harness.pods('grouped')),
          ...(await harness.cliques('grouped')),
          ...(await harness.groups('grouped')),
          ...(await harness.gangs('grouped')),
        ]
          .map(({ metadata }) => metadata.uid)
          .sort()
      const before = await uids()
      const errorsOf = async ({ resource, name }: (typeof targets)[number]) => {
        const ref = { name, namespace: harness.namespace }
        const found = (await harness.client.get(resource as never, ref)) as Reported
        return found.status?.lastErrors ?? []
      }

      for (const target of targets) await harness.scale(target.resource as never, target.name, huge)
      for (const target of targets) {
        const errors = await harness.until(
          `${target.name} to report its count`,
          () => errorsOf(target),
          found => found.length > 0,
        )
        assert.deepEqual(
          errors.map(({ code }) => code),
          ['ERR_REPLICA_LIMIT_EXCEEDED'],
        )
        assert.match(errors[0]!.description, new RegExp(`spec.replicas is ${huge}, which exceeds the limit`))
      }

      // The operator still serves other sets.
      const namespace = `${harness.namespace}-other`
      await harness.client.create(namespaces, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      })
      const other = new Harness({
        client: harness.client,
        operatorClient: harness.client,
        namespace,
        writes: [],
      })
      await other.apply(solo)
      await other.untilReady('solo', 2)
      await other.untilAvailable('solo', 1)

      await harness.untilQuiet()
      assert.deepEqual(await uids(), before)
      assert.deepEqual(
        harness.events
          .filter(({ reason }) => reason === 'ReplicaLimitExceeded')
          .map(({ about }) => about)
          .sort(),
        targets.map(({ name }) => name).sort(),
      )

      for (const target of targets)
        await harness.scale(target.resource as never, target.name, target.before + 1)
      // The set has two replicas: one with 3 routers and 3 group replicas of 4 pods, and one with the counts of the
      // template.
      await harness.untilReady('grouped', 15 + 10)
      await harness.untilAvailable('grouped', 2)
      // The set can be available before the group has written its status.
      for (const target of targets)
        await harness.until(
          `${target.name} to report no error`,
          () => errorsOf(target),
          found => found.length === 0,
        )
    },
  },
]
