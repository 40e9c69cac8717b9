// SPDX-License-Identifier: Apache-2.0

import type { StoredEvent } from '../caches/resources.ts'
import { mostEvents } from './limits.ts'
import type { EventRow } from './types.ts'

/** The latest events first, at most `mostEvents`. */
export function eventRows(events: readonly StoredEvent[]): EventRow[] {
  return events
    .map(rowOf)
    .sort((one, other) => ((one.time ?? '') < (other.time ?? '') ? 1 : -1))
    .slice(0, mostEvents)
}

function rowOf(event: StoredEvent): EventRow {
  const { type = '', reason = '', message = '', involvedObject, metadata, series } = event
  const time =
    series?.lastObservedTime ||
    event.lastTimestamp ||
    event.eventTime ||
    event.firstTimestamp ||
    metadata?.creationTimestamp
  return {
    ...(time && { time }),
    type,
    reason,
    kind: involvedObject?.kind ?? '',
    namespace: involvedObject?.namespace ?? '',
    name: involvedObject?.name ?? '',
    message,
    count: series?.count ?? event.count ?? 1,
  }
}
