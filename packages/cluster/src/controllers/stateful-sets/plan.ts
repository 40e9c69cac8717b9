// SPDX-License-Identifier: Apache-2.0

// Computes which pods of a StatefulSet are created or deleted next. Pure.

import type { Stored } from '@grove/kube'
import type { Pod, StatefulSet } from '../kinds.ts'
import { hasEnded, isReady } from '../pod-state.ts'

export const revisionLabel = 'controller-revision-hash'

export interface Step {
  readonly create: readonly { readonly ordinal: number; readonly updated: boolean }[]
  readonly delete: readonly Stored<Pod>[]
}

/** The ordinal at the end of a pod's name; -1 if there is none. */
export function ordinalOf(set: StatefulSet, { metadata }: Stored<Pod>): number {
  const rest = metadata.name.slice((set.metadata?.name?.length ?? 0) + 1)
  return /^\d+$/.test(rest) ? Number(rest) : -1
}

export function planStep(set: StatefulSet, pods: readonly Stored<Pod>[], updateRevision: string): Step {
  const { replicas = 1, ordinals, podManagementPolicy, updateStrategy } = set.spec ?? {}
  const start = ordinals?.start ?? 0
  const inOrder = podManagementPolicy !== 'Parallel'
  const byOrdinal = new Map(pods.map(pod => [ordinalOf(set, pod), pod]))
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0
  const create: { ordinal: number; updated: boolean }[] = []
  for (let ordinal = start; ordinal < start + replicas; ordinal++) {
    const pod = byOrdinal.get(ordinal)
    const updated = ordinal >= partition
    if (!pod) create.push({ ordinal, updated })
    else if (hasEnded(pod) && !pod.metadata.deletionTimestamp) return { create: [], delete: [pod] }
    if (inOrder && (!pod || pod.metadata.deletionTimestamp || !isReady(pod))) return { create, delete: [] }
  }
  if (create.length > 0) return { create, delete: [] }
  const surplus = [...byOrdinal]
    .filter(([ordinal]) => ordinal < start || ordinal >= start + replicas)
    .sort(([a], [b]) => b - a)
    .map(([, pod]) => pod)
  if (surplus.length > 0) return { create, delete: notTerminating(inOrder ? surplus.slice(0, 1) : surplus) }
  if (updateStrategy?.type === 'OnDelete') return { create, delete: [] }
  for (let ordinal = start + replicas - 1; ordinal >= Math.max(start, partition); ordinal--) {
    const pod = byOrdinal.get(ordinal)!
    if (pod.metadata.labels?.[revisionLabel] !== updateRevision)
      return { create, delete: notTerminating([pod]) }
    // One at a time: the next pod is updated when this one is ready.
    if (pod.metadata.deletionTimestamp || !isReady(pod)) break
  }
  return { create, delete: [] }
}

function notTerminating(pods: readonly Stored<Pod>[]): Stored<Pod>[] {
  return pods.filter(({ metadata }) => !metadata.deletionTimestamp)
}
