// SPDX-License-Identifier: Apache-2.0

import type { ObjectOf } from '../../object.ts'
import { decodeAs } from '../../schema/decode.ts'
import { structType } from '../../schema/type-table.ts'
import type { Event, EventsEvent } from '../../schema/types.generated.ts'
import { type BuiltInKind, kind } from '../built-in.ts'
import { eventColumns } from '../tables/core.ts'
import { validateEventsV1, validateEventsV1Update } from '../validation/event.ts'

/** Field names in events.k8s.io/v1 → field names in the stored core/v1 Event. */
const renamed: Readonly<Record<string, string>> = {
  reportingController: 'reportingComponent',
  regarding: 'involvedObject',
  note: 'message',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
}
const original = Object.fromEntries(Object.entries(renamed).map(([newer, older]) => [older, newer]))

const coreEvent = structType('core/v1.Event')
const newEvent = structType('events/v1.Event')

function toCore(object: EventsEvent): ObjectOf<Event> {
  const renamedObject = rename(object, renamed)
  return decodeAs<Event>(coreEvent, { ...renamedObject, apiVersion: 'v1' }).object
}

function fromCore(object: Event): ObjectOf<EventsEvent> {
  const renamedObject = rename(object, original)
  return decodeAs<EventsEvent>(newEvent, { ...renamedObject, apiVersion: 'events.k8s.io/v1' }).object
}

function rename(object: object, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names[key] ?? key, value]))
}

/** The events of the core group with the field names of events.k8s.io/v1. */
export const eventKinds: readonly BuiltInKind[] = [
  kind<EventsEvent, Event>({
    type: 'events/v1.Event',
    group: 'events.k8s.io',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    storage: 'events',
    conversion: { toStorage: toCore, fromStorage: fromCore },
    strategy: {
      createOnUpdate: true,
      validate: object => validateEventsV1(toCore(object)),
      validateUpdate: (object, old) => validateEventsV1Update(toCore(object), toCore(old)),
    },
    columns: eventColumns.map(column => ({
      ...column,
      cell: (object, now) => column.cell(toCore(object), now),
    })),
    selectableFields: {
      'regarding.kind': object => object.regarding?.kind ?? '',
      'regarding.namespace': object => object.regarding?.namespace ?? '',
      'regarding.name': object => object.regarding?.name ?? '',
      'regarding.uid': object => object.regarding?.uid ?? '',
      'regarding.apiVersion': object => object.regarding?.apiVersion ?? '',
      'regarding.resourceVersion': object => object.regarding?.resourceVersion ?? '',
      'regarding.fieldPath': object => object.regarding?.fieldPath ?? '',
      reason: object => object.reason ?? '',
      reportingController: object => object.reportingController ?? '',
      type: object => object.type ?? '',
    },
  }),
]
