// SPDX-License-Identifier: Apache-2.0

// KAI's topology of a binding: made and kept by us, or only compared where somebody else keeps it.
import { type ClusterTopologyBinding, type SchedulerTopologyStatus, scheduler } from '@grove/api'
import { type Client, isKubeError, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { textOf } from '../errors/coded-error.ts'
import { isControlledBy } from '../layout/owner.ts'
import { type KaiTopology, kaiTopology } from '../objects/kai-topology.ts'
import type { TopologyResult } from './plan.ts'

export async function syncKaiTopology(
  client: Client,
  binding: Stored<ClusterTopologyBinding>,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const kept = (binding.spec.schedulerTopologyBindings ?? []).find(
    entry => entry.schedulerName === scheduler.kai,
  )
  const name = kept?.topologyReference ?? binding.metadata.name
  try {
    return kept ? await compare(client, binding, name, signal) : await keep(client, binding, signal)
  } catch (error) {
    if (!isKubeError(error)) throw error
    return { entry: entryFor(name, false, textOf(error)), failed: true }
  }
}

async function compare(
  client: Client,
  binding: ClusterTopologyBinding,
  name: string,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const found = await client.find(resources.kaiTopologies, { name }, { signal })
  if (!found) return { entry: entryFor(name, false, `KAI Topology "${name}" not found`), failed: false }
  const entry = sameLevels(found, binding)
    ? entryFor(name, true)
    : entryFor(name, false, 'KAI Topology levels differ from ClusterTopologyBinding levels')
  const generation = found.metadata.generation
  return {
    entry: { ...entry, ...(generation && { schedulerBackendTopologyObservedGeneration: generation }) },
    failed: false,
  }
}

/** KAI does not let levels be changed, so a topology with others is made anew. One of somebody else is never touched. */
async function keep(
  client: Client,
  binding: Stored<ClusterTopologyBinding>,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const { name, uid } = binding.metadata
  const wanted = kaiTopology(binding) as unknown as KaiTopology
  const found = await client.find(resources.kaiTopologies, { name }, { signal })
  if (found && !isControlledBy(found, uid))
    return {
      entry: entryFor(
        name,
        false,
        `KAI Topology ${name} is not owned by ClusterTopologyBinding ${name}. It is required that KAI Topology by this name is created by Grove operator and has ClusterTopologyBinding set as its owner`,
      ),
      failed: true,
    }
  if (found && sameLevels(found, binding)) return { entry: entryFor(name, true), failed: false }
  if (found)
    await client.delete(
      resources.kaiTopologies,
      { name },
      { signal, preconditions: { uid: found.metadata.uid } },
    )
  await client.create(resources.kaiTopologies, wanted, { signal })
  return { entry: entryFor(name, true), failed: false }
}

function sameLevels({ spec }: KaiTopology, { spec: { levels } }: ClusterTopologyBinding): boolean {
  const have = spec?.levels ?? []
  return have.length === levels.length && levels.every((level, at) => have[at]!.nodeLabel === level.key)
}

function entryFor(name: string, inSync: boolean, message?: string): SchedulerTopologyStatus {
  return {
    schedulerName: scheduler.kai,
    topologyReference: name,
    inSync,
    ...(message !== undefined && { message }),
  }
}
