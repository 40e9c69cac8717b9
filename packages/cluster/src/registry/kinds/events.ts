// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../../object.ts'
import { decodeStruct } from '../../schema/decode.ts'
import { structType } from '../../schema/type-table.ts'
import type { EventsEvent } from '../../schema/types.generated.ts'
import type { BuiltInKind } from '../built-in.ts'
import { eventStrategy } from '../strategies/event.ts'
import { eventColumns } from '../tables/core.ts'
import { validateNewEvent, validateNewEventUpdate } from '../validation/event.ts'

/** The newer name of a field → the one under which events are stored. */
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

function toCore(object: KubeObject): KubeObject {
  const renamedObject = rename(object, renamed)
  return decodeStruct(coreEvent, { ...renamedObject, apiVersion: 'v1' }).object as unknown as KubeObject
}

function fromCore(object: KubeObject): KubeObject {
  const renamedObject = rename(object, original)
  return decodeStruct(newEvent, { ...renamedObject, apiVersion: 'events.k8s.io/v1' })
    .object as unknown as KubeObject
}

function rename(object: KubeObject, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names[key] ?? key, value]))
}

const event = (object: KubeObject) => object as unknown as EventsEvent

/** The same events as those of the core group, under newer names. */
export const eventKinds: readonly BuiltInKind[] = [
  {
    type: 'events/v1.Event',
    group: 'events.k8s.io',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    storage: 'events',
    conversion: { toStorage: toCore, fromStorage: fromCore },
    strategy: {
      ...eventStrategy,
      validate: object => validateNewEvent(toCore(object)),
      validateUpdate: (object, old) => validateNewEventUpdate(toCore(object), toCore(old)),
    },
    columns: eventColumns.map(column => ({
      ...column,
      cell: (object, now) => column.cell(toCore(object), now),
    })),
    selectableFields: {
      'regarding.kind': object => event(object).regarding?.kind ?? '',
      'regarding.namespace': object => event(object).regarding?.namespace ?? '',
      'regarding.name': object => event(object).regarding?.name ?? '',
      'regarding.uid': object => event(object).regarding?.uid ?? '',
      'regarding.apiVersion': object => event(object).regarding?.apiVersion ?? '',
      'regarding.resourceVersion': object => event(object).regarding?.resourceVersion ?? '',
      'regarding.fieldPath': object => event(object).regarding?.fieldPath ?? '',
      reason: object => event(object).reason ?? '',
      reportingController: object => event(object).reportingController ?? '',
      type: object => event(object).type ?? '',
    },
  },
]
