// SPDX-License-Identifier: Apache-2.0

// Explains why gangs of a cluster wait, whichever scheduler places their pods.
import { label, type Pod } from '@grove/api'
import {
  defaultPolicy,
  type GangDecision,
  plan,
  type Snapshot,
  type SnapshotObjects,
  snapshotFrom,
} from '@grove/scheduler'
import { isWaiting, keyOf, missingGang, schedulersOf } from './waiting-gangs.ts'

/** A waiting gang: the decision of the placement core, and what the scheduler itself reports. */
export interface ExplainedGang extends GangDecision {
  readonly schedulerName: string
  /** Messages of the scheduler on the waiting pods, the most frequent first. */
  readonly reported: readonly { readonly message: string; readonly pods: number }[]
}

export interface ExplainedCluster {
  readonly gangs: readonly ExplainedGang[]
  /** Snapshots by scheduler, for names of levels. */
  readonly snapshots: readonly Snapshot[]
}

/** Name of a PodGang or of a PodCliqueSet. Undefined selects all waiting gangs of the namespace. */
export interface GangSelection {
  readonly namespace: string
  readonly name: string | undefined
}

/** Waiting gangs. Each scheduler is planned alone, as if grove-scheduler placed its pods. */
export function explainCluster(
  objects: SnapshotObjects,
  { namespace, name }: GangSelection,
  now: number,
): ExplainedCluster {
  const schedulers = schedulersOf(objects)
  const podsOf = Map.groupBy(
    objects.pods.filter(({ metadata, spec }) => !spec.nodeName && metadata.labels?.[label.podGang]),
    ({ metadata }) => keyOf({ ...metadata, name: metadata.labels?.[label.podGang] ?? '' }),
  )
  const snapshots: Snapshot[] = []
  const gangs = [...new Set(schedulers.values())].sort().flatMap(schedulerName => {
    const snapshot = snapshotFrom(objects, { schedulerName })
    snapshots.push(snapshot)
    const asked = new Set(
      snapshot.gangs
        .filter(
          gang =>
            schedulers.get(keyOf(gang)) === schedulerName &&
            gang.namespace === namespace &&
            (name === undefined || gang.name === name || gang.podCliqueSet === name) &&
            isWaiting(gang),
        )
        .map(keyOf),
    )
    const isAskedMissing = (gang: { readonly namespace: string; readonly name: string }) =>
      gang.namespace === namespace && (name === undefined || gang.name === name)
    if (asked.size === 0 && !snapshot.strayPods.some(pod => pod.namespace === namespace)) return []
    const decision = plan(snapshot, defaultPolicy, now, gang => asked.has(keyOf(gang)))
    return [
      ...decision.gangs.filter(gang => asked.has(keyOf(gang))),
      ...decision.missingGangs.filter(isAskedMissing).map(missingGang),
    ].map(gang => ({ ...gang, schedulerName, reported: reportsOf(podsOf.get(keyOf(gang)) ?? []) }))
  })
  return { gangs, snapshots }
}

function reportsOf(pods: readonly Pod[]): ExplainedGang['reported'] {
  const messages = pods.flatMap(({ status }) => {
    const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
    return condition?.status === 'False' && condition.message ? [condition.message] : []
  })
  return [...Map.groupBy(messages, message => message)]
    .map(([message, same]) => ({ message, pods: same.length }))
    .sort((left, right) => right.pods - left.pods)
}
