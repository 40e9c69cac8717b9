// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import { timestamp } from '../controllers/timestamp.ts'
import type { PodCondition } from '../schema/types.generated.ts'

/**
 * A strategic merge patch of the status that reports why the pod is unschedulable; undefined if the status
 * reports it already.
 */
export function unschedulablePatch(
  pod: Stored<Pod>,
  message: string,
  nominatedNode: string | undefined,
  now: number,
): object | undefined {
  const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const needsReconcile =
    known?.status !== 'False' || known.reason !== 'Unschedulable' || known.message !== message
  const nominates = nominatedNode !== undefined && nominatedNode !== pod.status?.nominatedNodeName
  if (!needsReconcile && !nominates) return undefined
  const condition: PodCondition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    observedGeneration: pod.metadata.generation,
    lastProbeTime: null,
    lastTransitionTime: known?.status === 'False' ? known.lastTransitionTime : timestamp(now),
  }
  return {
    metadata: { uid: pod.metadata.uid },
    status: { conditions: [condition], ...(nominates && { nominatedNodeName: nominatedNode }) },
  }
}

/** A patch that reports the preemption of a pod. */
export function disruptionPatch(pod: Stored<Pod>, scheduler: string, now: number): object {
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${scheduler}: preempting to accommodate a higher priority pod`,
    observedGeneration: pod.metadata.generation,
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
  }
  return { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
}
