// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'
import {
  causeObjects,
  type SetObjects,
  sentenceOf,
  statusDocument,
  treeDocument,
  whyNotReady,
} from '@grove/inspect'
import type { CachedPod } from '../caches/projections.ts'
import type { StoredEvent } from '../caches/resources.ts'
import { eventRows } from './events.ts'
import { gangRows } from './gangs.ts'
import { mostGangs, mostPodsOfClique, mostPodsOfSet } from './limits.ts'
import { setSummary } from './overview.ts'
import type { Notes, PodRow, SetDocument } from './types.ts'

export function setDocument(objects: SetObjects, events: readonly StoredEvent[], notes: Notes): SetDocument {
  const status = statusDocument(objects)
  const gangs = gangRows(objects)
  return {
    summary: setSummary(objects, status, gangs),
    ...(status.revision && { revision: status.revision }),
    causes: status.causes.map(cause => ({ ...cause, objects: causeObjects(cause.objects) })),
    tree: treeDocument(objects).root,
    pods: podsByClique(objects),
    gangs: gangs.slice(0, mostGangs).map(({ row }) => row),
    hiddenGangs: Math.max(0, gangs.length - mostGangs),
    events: eventRows(eventsOf(objects, events)),
    notes,
  }
}

/** The rows of each clique, within a limit for each clique and for the set. */
function podsByClique({ pods, cliques }: SetObjects): SetDocument['pods'] {
  const byName = new Map(cliques.map(clique => [clique.metadata.name ?? '', clique]))
  const podsOf = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[label.podClique] ?? '')
  let left = mostPodsOfSet
  const entries = [...podsOf.keys()].sort().map(clique => {
    const members = podsOf.get(clique) ?? []
    const rows = members
      .map(pod => podRow(pod as CachedPod, byName))
      .sort(comparePods)
      .slice(0, Math.min(left, mostPodsOfClique))
    left -= rows.length
    return [clique, { rows, hidden: members.length - rows.length }]
  })
  return Object.fromEntries(entries)
}

function podRow(pod: CachedPod, cliques: ReadonlyMap<string, PodClique>): PodRow {
  const { metadata, spec, status } = pod
  const wait = whyNotReady(pod, cliques)
  const statuses = status?.containerStatuses ?? []
  return {
    name: metadata.name,
    state: wait?.reason ?? 'Ready',
    ...(wait && { message: sentenceOf(wait) }),
    ...(spec?.nodeName && { node: spec.nodeName }),
    restarts: statuses.reduce((total, { restartCount }) => total + (restartCount ?? 0), 0),
    ...(metadata.creationTimestamp && { createdAt: metadata.creationTimestamp }),
  }
}

function comparePods(one: PodRow, other: PodRow): number {
  return (
    Number(one.state === 'Ready') - Number(other.state === 'Ready') ||
    one.name.localeCompare(other.name, 'en', { numeric: true })
  )
}

/** The events of the set and of all of its objects but the pods. */
function eventsOf(
  { set, groups, cliques, gangs }: SetObjects,
  events: readonly StoredEvent[],
): StoredEvent[] {
  const names = new Set(
    [set, ...groups, ...cliques, ...gangs].map(({ kind, metadata }) => `${kind}/${metadata.name}`),
  )
  return events.filter(
    ({ involvedObject: object }) =>
      object?.namespace === set.metadata.namespace && names.has(`${object?.kind}/${object?.name}`),
  )
}
