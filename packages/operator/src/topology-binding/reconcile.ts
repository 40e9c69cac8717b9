// SPDX-License-Identifier: Apache-2.0

// One pass over a ClusterTopologyBinding: the schedulers' own topologies and what is said of them.
import { eventSource, scheduler, topologyAwareSchedulers } from '@grove/api'
import type { ReconcileContext } from '@grove/kube'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { resources } from '../resources.ts'
import { writeStatus } from '../status-write.ts'
import { syncKaiTopology } from './kai-topology.ts'
import { planBindingStatus } from './plan.ts'

/** Bindings are cluster-scoped: the key is the name. */
export async function reconcileTopologyBinding(
  name: string,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<void> {
  const { world, configuration, events: sink } = context
  const binding = world.topologyBindings.get({ name })
  if (!binding || binding.metadata.deletionTimestamp) return
  const available = topologyAwareSchedulers(configuration)
  const results = available.has(scheduler.kai) ? [await syncKaiTopology(world.client, binding, signal)] : []
  const plan = planBindingStatus({ binding, results, available, now: timestamp(context.clock) })
  if (await writeStatus(world, resources.clusterTopologyBindings, binding, plan.status, { signal }))
    for (const event of plan.events) sink.emit(binding, eventSource.clusterTopologyBinding, event)
  const failed = results.find(result => result.failed)
  if (failed) throw new Error(failed.entry.message)
}
