// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'

/**
 * The strategic merge patch that says why a pod waits, as kube-scheduler writes it: cluster autoscalers and
 * `kubectl describe pod` read this condition. Undefined if the pod says so already.
 */
export function unschedulablePatch(pod: Pod, message: string, now: number): object | undefined {
  const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (known?.status === 'False' && known.reason === 'Unschedulable' && known.message === message)
    return undefined
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`
  const lastTransitionTime = known?.status === 'False' ? (known.lastTransitionTime ?? time) : time
  return {
    metadata: { uid: pod.metadata.uid },
    status: {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime },
      ],
    },
  }
}
