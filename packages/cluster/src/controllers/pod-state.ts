// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import { isTrue } from './conditions.ts'
import type { Pod } from './kinds.ts'

export function isReady(pod: Pod): boolean {
  return isTrue(pod.status?.conditions, 'Ready')
}

/** Has ended, one way or the other, for good. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Counts as one that does, or will do, its work. */
export function isActive(pod: Stored<Pod>): boolean {
  return !isOver(pod) && !pod.metadata.deletionTimestamp
}

/** When the pod will have been ready for so long; undefined when it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True')
  if (!ready) return undefined
  return minReadySeconds === 0 ? 0 : Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1_000
}
