// SPDX-License-Identifier: Apache-2.0

// One pass over a ClusterTopologyBinding: the schedulers' own topologies and what is said of them.
import { eventSource, scheduler, topologyAwareSchedulers } from '@grove/api'
import type { ReconcileContext } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import type { OperatorContext } from '../operator-context.ts'
import { timestamp } from '../state/conditions.ts'
import { syncKaiTopology } from './kai-topology.ts'
import { planBindingStatus } from './plan.ts'

/** Bindings are cluster-scoped: the key is the name. */
export async function reconcileTopologyBinding(
  name: string,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<void> {
  const { caches, configuration, events: sink } = context
  const binding = caches.topologyBindings.get({ name })
  if (!binding || binding.metadata.deletionTimestamp) return
  const available = topologyAwareSchedulers(configuration)
  const results = available.has(scheduler.kai) ? [await syncKaiTopology(caches.client, binding, signal)] : []
  const plan = planBindingStatus({ binding, results, available, now: timestamp(context.clock) })
  if (await writeStatus(caches, resources.clusterTopologyBindings, binding, plan.status, { signal }))
    for (const event of plan.events) sink.emit(binding, eventSource.clusterTopologyBinding, event)
  const failed = results.find(result => result.failed)
  if (failed) throw new Error(failed.entry.message)
}
