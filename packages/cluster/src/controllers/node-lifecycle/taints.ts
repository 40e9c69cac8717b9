// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Taint } from '../../schema/types.generated.ts'
import type { Node } from '../kinds.ts'

const notReady = 'node.kubernetes.io/not-ready'
const unreachable = 'node.kubernetes.io/unreachable'
const unschedulable = 'node.kubernetes.io/unschedulable'

/** The taint of each condition, and the status in which it applies. */
const conditionTaints: readonly (readonly [condition: string, status: string, taint: string])[] = [
  ['Ready', 'False', notReady],
  ['Ready', 'Unknown', unreachable],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
]

const ownKeys = new Set([...conditionTaints.map(([, , taint]) => taint), unschedulable])

/**
 * Returns the taints that the node should have: other taints unchanged, lifecycle taints from conditions and
 * cordon. Undefined if nothing changes.
 */
export function wantedTaints(node: Stored<Node>, now: string): Taint[] | undefined {
  const old = node.spec?.taints ?? []
  const kept = old.filter(taint => !isOurs(taint))
  const wanted: Taint[] = []
  const want = (key: string, effect: string) =>
    wanted.push(
      old.find(taint => taint.key === key && taint.effect === effect) ?? { key, effect, timeAdded: now },
    )
  for (const [type, status, key] of conditionTaints) {
    if (node.status?.conditions?.find(condition => condition.type === type)?.status !== status) continue
    want(key, 'NoSchedule')
    if (type === 'Ready') want(key, 'NoExecute')
  }
  if (node.spec?.unschedulable) want(unschedulable, 'NoSchedule')
  const isSame = wanted.length === old.length - kept.length && wanted.every(taint => old.includes(taint))
  return isSame ? undefined : [...kept, ...wanted]
}

function isOurs({ key = '', effect }: Taint): boolean {
  if (!ownKeys.has(key)) return false
  return effect === 'NoSchedule' || (effect === 'NoExecute' && (key === notReady || key === unreachable))
}
