// SPDX-License-Identifier: Apache-2.0

import { timestamp } from '../controllers/timestamp.ts'
import type { NodeCondition } from '../schema/types.generated.ts'

const healthy: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
]

/** The conditions of a healthy node, as its kubelet writes them. */
export function nodeConditions(now: number, old: readonly NodeCondition[] = []): NodeCondition[] {
  const time = timestamp(now)
  return healthy.map(([type, status, reason, message]) => {
    const known = old.find(condition => condition.type === type)
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? time) : time
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, reason, message }
  })
}

/** The conditions of a node that sends no heartbeats, as the node lifecycle controller writes them. */
export function unknownConditions(old: readonly NodeCondition[], now: number): NodeCondition[] {
  return old.map(condition => ({
    ...condition,
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastTransitionTime: timestamp(now),
  }))
}
