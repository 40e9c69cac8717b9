// SPDX-License-Identifier: Apache-2.0

import { type Condition, conditionType, label, type PodClique, type PodGang } from '@grove/api'
import { isRootCause, type SetObjects, sentenceOf, whyNotReady } from '@grove/inspect'
import type { CachedPod } from '../caches/projections.ts'
import type { GangRow } from './types.ts'

export interface RankedGang {
  readonly row: GangRow
  /** False if it waits for another gang, or only for a moment. */
  readonly isRoot: boolean
}

/** The gangs of a set: pending ones first, and among these the ones that wait for their own reason. */
export function gangRows({ gangs, pods, cliques }: SetObjects): RankedGang[] {
  const podsOf = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[label.podGang] ?? '')
  const byName = new Map(cliques.map(clique => [clique.metadata.name ?? '', clique]))
  return gangs
    .map(gang => rankedGang(gang, (podsOf.get(gang.metadata.name ?? '') ?? []) as CachedPod[], byName))
    .sort(compareGangs)
}

export function isPending({ row }: RankedGang): boolean {
  return row.phase === 'Pending' || row.cause !== undefined
}

export function compareGangs(one: RankedGang, other: RankedGang): number {
  return (
    Number(isPending(other)) - Number(isPending(one)) ||
    Number(other.isRoot) - Number(one.isRoot) ||
    compare(one.row.cause?.since ?? '', other.row.cause?.since ?? '') ||
    one.row.name.localeCompare(other.row.name, 'en', { numeric: true })
  )
}

function rankedGang(
  { metadata, status }: PodGang,
  pods: readonly CachedPod[],
  cliques: ReadonlyMap<string, PodClique>,
): RankedGang {
  const condition = notScheduled(status?.conditions)
  const cause = condition ? causeOf(condition) : podCause(pods, cliques)
  const isRunning = status?.phase === 'Running'
  return {
    isRoot: condition ? isRootCause(condition) : cause !== undefined,
    row: {
      name: metadata.name ?? '',
      phase: status?.phase ?? 'Pending',
      pods: pods.length,
      scheduledPods: pods.filter(({ spec }) => spec?.nodeName).length,
      ...(status?.placementScore !== undefined && { placementScore: status.placementScore }),
      ...(cause && !isRunning && { cause }),
    },
  }
}

function notScheduled(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type, status }) => type === conditionType.podGangScheduled && status === 'False')
}

function causeOf({ reason, message, lastTransitionTime }: Condition): GangRow['cause'] {
  return { reason, message, ...(lastTransitionTime && { since: lastTransitionTime }) }
}

/** Uses the reasons of the pods if the scheduler writes no condition. */
function podCause(
  pods: readonly CachedPod[],
  cliques: ReadonlyMap<string, PodClique>,
): GangRow['cause'] | undefined {
  for (const pod of pods) {
    if (pod.spec?.nodeName) continue
    const wait = whyNotReady(pod, cliques)
    if (wait?.reason === 'Unschedulable') return { reason: wait.reason, message: sentenceOf(wait) }
  }
  return undefined
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
