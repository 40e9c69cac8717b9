// SPDX-License-Identifier: Apache-2.0

// The topologies that the operator creates for KAI, one for each binding. KAI is not installed; the scenario reads its
// objects instead.
import assert from 'node:assert/strict'
import {
  type ClusterTopologyBinding,
  conditionType,
  defaultConfiguration,
  type SchedulerTopologyBinding,
  scheduler,
} from '@grove/api'
import { resources } from '@grove/operator'
import { installStandIn } from '../custom-kinds.ts'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

export const packedByKai = {
  ...defaultConfiguration(),
  topologyAwareScheduling: { enabled: true },
  scheduler: {
    profiles: [{ name: scheduler.kai }, { name: scheduler.default }],
    defaultProfileName: scheduler.kai,
  },
}

export const fabric = { zone: 'site/zone', block: 'site/block', rack: 'site/rack', host: 'site/host' }

export async function installKai(harness: Harness): Promise<void> {
  await harness.stopOperator()
  await installStandIn(harness.client, resources.kaiPodGroups)
  await installStandIn(harness.client, resources.kaiTopologies)
  await harness.startOperator()
}

const levelsOf = (levels: Readonly<Record<string, string>>) =>
  Object.entries(levels).map(([domain, key]) => ({ domain, key }))

export async function bind(
  harness: Harness,
  name: string,
  levels: Readonly<Record<string, string>>,
  schedulerTopologyBindings?: readonly SchedulerTopologyBinding[],
): Promise<void> {
  await harness.client.create(resources.clusterTopologyBindings, {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name },
    spec: { levels: levelsOf(levels), ...(schedulerTopologyBindings && { schedulerTopologyBindings }) },
  } as ClusterTopologyBinding)
}

/** Bindings are cluster-scoped: operators of later scenarios would reconcile them. */
export async function unbind(harness: Harness, ...names: readonly string[]): Promise<void> {
  for (const name of names) await harness.client.delete(resources.clusterTopologyBindings, { name })
}

export const topologyBindingScenarios: Scenario[] = [
  {
    name: 'KAI: the topology of a binding follows its levels, and one of another owner is only compared',
    configuration: packedByKai,
    async run(harness) {
      await installKai(harness)
      const own = `${harness.namespace}-own`
      const external = `${harness.namespace}-external`
      const untilDrift = (name: string, wanted: string) =>
        harness.until(
          `the drift of ${name} to be ${wanted}`,
          () => harness.client.get(resources.clusterTopologyBindings, { name }),
          ({ status }) =>
            (status?.conditions ?? []).some(
              ({ type, status, reason }) =>
                type === conditionType.schedulerTopologyDrift && `${status}/${reason}` === wanted,
            ),
        )
      const untilLevels = async (name: string, keys: readonly string[]) => {
        const { metadata } = (await harness.until(
          `a topology with ${keys.join(', ')}`,
          () => harness.client.find(resources.kaiTopologies, { name }),
          found => found?.spec?.levels?.map(({ nodeLabel }) => nodeLabel).join() === keys.join(),
        ))!
        assert.deepEqual(
          metadata.ownerReferences?.map(owner => `${owner.kind} ${owner.name}`),
          [`ClusterTopologyBinding ${name}`],
        )
      }
      const { zone, rack, host } = fabric
      await bind(harness, own, { zone, host })
      await untilLevels(own, [zone, host])
      await untilDrift(own, 'False/InSync')
      await harness.client.patch(
        resources.clusterTopologyBindings,
        { name: own },
        { merge: { spec: { levels: levelsOf({ zone, rack, host }) } } },
      )
      await untilLevels(own, [zone, rack, host])
      await untilDrift(own, 'False/InSync')

      await harness.client.patch(
        resources.kaiTopologies,
        { name: own },
        { merge: { metadata: { ownerReferences: null } } },
      )
      const { status: lost } = await untilDrift(own, 'True/Drift')
      assert.match(lost!.schedulerTopologyStatuses![0]!.message!, /is not owned by ClusterTopologyBinding/)
      await harness.client.delete(resources.kaiTopologies, { name: own })
      await untilLevels(own, [zone, rack, host])
      await untilDrift(own, 'False/InSync')

      const missing = { schedulerName: scheduler.kai, topologyReference: `${external}-of-others` }
      await bind(harness, external, { zone, rack, host }, [missing])
      const { status } = await untilDrift(external, 'True/Drift')
      assert.deepEqual(
        status?.schedulerTopologyStatuses?.map(one => [one.topologyReference, one.inSync]),
        [[missing.topologyReference, false]],
      )
      await unbind(harness, own, external)
    },
  },
]
