// SPDX-License-Identifier: Apache-2.0

// The KAI topology of a binding. The operator creates and owns it, or compares it if the binding names one of another
// owner.
import { type ClusterTopologyBinding, type SchedulerTopologyStatus, scheduler } from '@grove/api'
import { isKubeError, isNotFound, messageOf, type Stored } from '@grove/kube'
import { executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import { throwIfAny } from '../errors/coded-error.ts'
import { isControlledBy } from '../layout/owner.ts'
import { topologyReference } from '../layout/topology.ts'
import { type KaiTopology, kaiTopology } from '../objects/kai-topology.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { TopologyResult } from './plan.ts'

export async function syncKaiTopology(
  context: OperatorContext,
  binding: Stored<ClusterTopologyBinding>,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const wanted = kaiTopology(binding)
  const name = topologyReference(binding, scheduler.kai) ?? binding.metadata.name
  try {
    return wanted
      ? await ensure(context, binding, wanted, signal)
      : await compare(context, binding, name, signal)
  } catch (error) {
    if (!isKubeError(error)) throw error
    const { kind, group, version } = resources.kaiTopologies
    const message = isNotFound(error)
      ? `the cluster does not serve ${kind} of ${group}/${version}: install the scheduler ${scheduler.kai}`
      : messageOf(error)
    return { entry: entryFor(name, false, message), failed: true }
  }
}

async function compare(
  context: OperatorContext,
  binding: ClusterTopologyBinding,
  name: string,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const found = await context.caches.client.find(resources.kaiTopologies, { name }, { signal })
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

/**
 * KAI's levels are immutable, so a topology with other levels is recreated. A topology of another owner is never
 * written.
 */
async function ensure(
  context: OperatorContext,
  binding: Stored<ClusterTopologyBinding>,
  wanted: KaiTopology,
  signal: AbortSignal,
): Promise<TopologyResult> {
  const { name, uid } = binding.metadata
  const found = await context.caches.client.find(resources.kaiTopologies, { name }, { signal })
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
  const resource = resources.kaiTopologies
  const deletion: Intent[] = found ? [{ kind: 'delete', resource, object: found }] : []
  throwIfAny(
    await executeInOrder([deletion, [{ kind: 'create', resource, object: wanted }]], context, { signal }),
  )
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
