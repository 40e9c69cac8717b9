// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import { isTrue } from './conditions.ts'
import type { Pod } from './kinds.ts'

export function isReady(pod: Pod): boolean {
  return isTrue(pod.status?.conditions, 'Ready')
}

/** Reports whether the pod has succeeded or failed. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Reports whether the pod is neither finished nor terminating. */
export function isActive(pod: Stored<Pod>): boolean {
  return !hasEnded(pod) && !pod.metadata.deletionTimestamp
}

/** The time at which the pod is available; undefined if it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True')
  if (!ready) return undefined
  return minReadySeconds === 0 ? 0 : Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1_000
}
