// SPDX-License-Identifier: Apache-2.0

import { label } from '@grove/api'
import {
  defaultSchedulerName,
  type Gang,
  type GangDecision,
  type MissingGang,
  type SnapshotObjects,
} from '@grove/scheduler'

/** Reports whether the gang lacks pods of its minimum, or has pods without a node. */
export function isWaiting({ groups }: Gang): boolean {
  return groups.some(
    ({ placed, candidates, gated, minReplicas }) =>
      placed.length < minReplicas || candidates.length + gated.length > 0,
  )
}

/** Pods whose PodGang does not exist yet, in the form of a gang. */
export function missingGang({ namespace, name, pods, explanation }: MissingGang): GangDecision {
  return {
    namespace,
    name,
    podCliqueSet: '',
    replica: 0,
    role: 'base',
    priority: 0,
    verdict: 'Blocked',
    provenance: 'proved',
    scopes: [],
    pods: pods.map(pod => ({ name: pod, podGroup: '', node: null, part: 'minimum' })),
    explanation,
  }
}

/** The scheduler of every gang: that of its pods; without pods, that of the label. */
export function schedulersOf({ pods, podGangs }: SnapshotObjects): Map<string, string> {
  const schedulers = new Map<string, string>(
    podGangs.map(gang => [
      keyOf(gang.metadata),
      gang.metadata.labels?.[label.schedulerName] || defaultSchedulerName,
    ]),
  )
  for (const { metadata, spec } of pods) {
    const gang = metadata.labels?.[label.podGang]
    if (gang !== undefined && spec.schedulerName)
      schedulers.set(keyOf({ ...metadata, name: gang }), spec.schedulerName)
  }
  return schedulers
}

export function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace ?? 'default'}/${name}`
}
