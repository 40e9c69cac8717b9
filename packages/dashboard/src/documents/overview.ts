// SPDX-License-Identifier: Apache-2.0

import { conditionType } from '@grove/api'
import { causeObjects, type SetObjects, type StatusDocument, statusDocument } from '@grove/inspect'
import type { StoredEvent } from '../caches/resources.ts'
import { eventRows } from './events.ts'
import { compareGangs, gangRows, isPending, type RankedGang } from './gangs.ts'
import { mostGangs, mostSets } from './limits.ts'
import type { Notes, OverviewDocument, PendingGang, SetState, SetSummary } from './types.ts'

const stateOrder: readonly SetState[] = ['Stalled', 'Progressing', 'Updating', 'Terminating', 'Available']

export function overviewDocument(
  sets: readonly SetObjects[],
  events: readonly StoredEvent[],
  notes: Notes,
): OverviewDocument {
  const all = sets.map(objects => ({ objects, gangs: gangRows(objects) }))
  const summaries = all
    .map(({ objects, gangs }) => setSummary(objects, statusDocument(objects), gangs))
    .sort(compareSets)
  const pending = all
    .flatMap(({ objects: { set }, gangs }) => gangs.filter(isPending).map(gang => ({ ...gang, set })))
    .sort(compareGangs)
    .map(
      ({ row, set }): PendingGang => ({
        ...row,
        namespace: set.metadata.namespace ?? '',
        set: set.metadata.name ?? '',
      }),
    )
  return {
    totals: {
      sets: summaries.length,
      availableSets: summaries.filter(isAvailable).length,
      pods: sum(summaries, ({ pods }) => pods),
      readyPods: sum(summaries, ({ readyPods }) => readyPods),
      gangs: sum(summaries, ({ gangs }) => gangs),
      pendingGangs: pending.length,
    },
    pendingGangs: pending.slice(0, mostGangs),
    hiddenGangs: Math.max(0, pending.length - mostGangs),
    sets: summaries.slice(0, mostSets),
    hiddenSets: Math.max(0, summaries.length - mostSets),
    // Other events matter only on the page of their set.
    events: eventRows(events.filter(({ type }) => type === 'Warning')),
    notes,
  }
}

export function setSummary(
  objects: SetObjects,
  status: StatusDocument,
  gangs: readonly RankedGang[],
): SetSummary {
  const { metadata, replicas, availableReplicas, updatedReplicas, pods, causes } = status
  const state = stateOf(objects, status)
  const [cause] = causes
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    state,
    replicas,
    availableReplicas,
    updatedReplicas,
    pods: pods.total,
    readyPods: pods.ready,
    gangs: gangs.length,
    pendingGangs: gangs.filter(isPending).length,
    ...(metadata.creationTimestamp && { createdAt: metadata.creationTimestamp }),
    ...(cause &&
      state !== 'Available' && {
        cause: { reason: cause.reason, message: `${causeObjects(cause.objects)}: ${cause.message}` },
      }),
  }
}

/** A set can be stalled and available: its minimum serves, and a gang above it waits. It needs attention first. */
function stateOf({ set }: SetObjects, { converged, metadata, updateProgress }: StatusDocument): SetState {
  if (metadata.deletionTimestamp) return 'Terminating'
  const isStalled = set.status?.conditions?.some(
    ({ type, status }) => type === conditionType.stalled && status === 'True',
  )
  if (isStalled) return 'Stalled'
  if (converged) return 'Available'
  return updateProgress?.updateStartedAt && !updateProgress.updateEndedAt ? 'Updating' : 'Progressing'
}

function isAvailable({ state, replicas, availableReplicas }: SetSummary): boolean {
  return state !== 'Terminating' && availableReplicas >= replicas
}

function compareSets(one: SetSummary, other: SetSummary): number {
  return (
    stateOrder.indexOf(one.state) - stateOrder.indexOf(other.state) ||
    one.namespace.localeCompare(other.namespace, 'en') ||
    one.name.localeCompare(other.name, 'en', { numeric: true })
  )
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
