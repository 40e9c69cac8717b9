// SPDX-License-Identifier: Apache-2.0

// One reconcile of a ClusterTopologyBinding: the schedulers' own topologies, then the status.
import { eventSource, scheduler, topologyAwareSchedulers } from '@grove/api'
import type { ReconcileContext } from '@grove/kube'
import { executeOrThrow } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
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
  const { caches, configuration } = context
  const binding = caches.topologyBindings.get({ name })
  if (!binding || binding.metadata.deletionTimestamp) return
  const available = topologyAwareSchedulers(configuration)
  const results = available.has(scheduler.kai) ? [await syncKaiTopology(context, binding, signal)] : []
  const plan = planBindingStatus({ binding, results, available, now: timestamp(context.clock) })
  const intent: Intent = {
    kind: 'writeStatus',
    resource: resources.clusterTopologyBindings,
    object: binding,
    status: plan.status,
    report: { about: binding, source: eventSource.clusterTopologyBinding, done: () => plan.events },
  }
  await executeOrThrow([intent], context, signal)
  const failed = results.find(result => result.failed)
  if (failed) throw new Error(failed.entry.message)
}
