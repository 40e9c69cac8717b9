// SPDX-License-Identifier: Apache-2.0

// Decides which changes of the caches lead to a scheduling cycle. Most events of a cluster are heartbeats of nodes, and
// progress of pods that already hold their resources. Pure.
import { label, type Node, type Pod } from '@grove/api'
import { equalJson } from '@grove/apimachinery'
import type { Change, KubeObject } from '@grove/kube'

type ChangeOf<T> = Change<T & KubeObject>

/** Compares what a snapshot reads of a node. Conditions, images and annotations change with every heartbeat. */
export function nodeNeedsCycle(change: ChangeOf<Node>): boolean {
  if (change.type !== 'update') return true
  const read = ({ metadata, spec, status }: Node) => [
    metadata.labels ?? {},
    spec?.taints ?? [],
    spec?.unschedulable ?? false,
    status?.allocatable ?? {},
  ]
  return !equalJson(read(change.old), read(change.new))
}

/** Compares what a snapshot reads of a pod and, for a member of a gang, what the status of the gang depends on. */
export function podNeedsCycle(change: ChangeOf<Pod>): boolean {
  if (change.type !== 'update') return true
  const read = (pod: Pod) => {
    const { metadata, spec, status } = pod
    const phase = status?.phase ?? ''
    const isMember = metadata.labels?.[label.podGang] !== undefined
    return [
      metadata.uid ?? '',
      metadata.labels ?? {},
      metadata.deletionTimestamp !== undefined,
      spec,
      // The claims that Kubernetes has generated for the pod: until it names them, the pod waits.
      status?.resourceClaimStatuses ?? [],
      isMember ? [phase, isReady(pod)] : phase === 'Succeeded' || phase === 'Failed',
    ]
  }
  return !equalJson(read(change.old), read(change.new))
}

/** Only the scheduler itself changes a gang by a write: the cycle that wrote the status has taken it into account. */
export function gangNeedsCycle({ source, type }: ChangeOf<KubeObject>): boolean {
  return source !== 'write' || type === 'delete'
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
