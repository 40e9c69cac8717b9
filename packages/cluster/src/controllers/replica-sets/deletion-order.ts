// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../kinds.ts'
import { isReady } from '../pod-state.ts'

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const phases = ['Pending', 'Unknown', 'Running']

/**
 * Returns pods in deletion order, as in Kubernetes: unassigned, pending, not ready, lower deletion cost, more pods
 * on the same node, ready for a shorter time, more restarts, youngest.
 */
export function inDeletionOrder(pods: readonly Stored<Pod>[]): Stored<Pod>[] {
  const perNode = new Map<string, number>()
  for (const { spec } of pods) perNode.set(spec?.nodeName ?? '', (perNode.get(spec?.nodeName ?? '') ?? 0) + 1)
  const podsOnNode = ({ spec }: Pod) => perNode.get(spec?.nodeName ?? '') ?? 0
  return [...pods].sort(
    (a, b) =>
      Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName)) ||
      phases.indexOf(a.status?.phase ?? '') - phases.indexOf(b.status?.phase ?? '') ||
      Number(isReady(a)) - Number(isReady(b)) ||
      costOf(a) - costOf(b) ||
      podsOnNode(b) - podsOnNode(a) ||
      -compare(readySince(a), readySince(b)) ||
      restartsOf(b) - restartsOf(a) ||
      -compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compare(a.metadata.name, b.metadata.name),
  )
}

function costOf({ metadata }: Stored<Pod>): number {
  const cost = Number(metadata.annotations?.[costAnnotation] ?? 0)
  return Number.isInteger(cost) ? cost : 0
}

function readySince({ status }: Pod): string {
  return (
    status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True')
      ?.lastTransitionTime ?? ''
  )
}

function restartsOf({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
