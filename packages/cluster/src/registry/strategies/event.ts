// SPDX-License-Identifier: Apache-2.0

import type { Event } from '../../schema/types.generated.ts'
import type { SelectableFields, Strategy } from '../resource.ts'
import { validateEvent } from '../validation/event.ts'

export const eventStrategy: Partial<Strategy<Event>> = {
  createOnUpdate: true,
  validate: validateEvent,
  validateUpdate: () => [],
}

const involved = (object: Event) => object.involvedObject ?? {}

export const eventSelectableFields: SelectableFields<Event> = {
  'involvedObject.kind': object => involved(object).kind ?? '',
  'involvedObject.namespace': object => involved(object).namespace ?? '',
  'involvedObject.name': object => involved(object).name ?? '',
  'involvedObject.uid': object => involved(object).uid ?? '',
  'involvedObject.apiVersion': object => involved(object).apiVersion ?? '',
  'involvedObject.resourceVersion': object => involved(object).resourceVersion ?? '',
  'involvedObject.fieldPath': object => involved(object).fieldPath ?? '',
  reason: object => object.reason ?? '',
  reportingComponent: object => object.reportingComponent ?? '',
  source: object => object.source?.component || object.reportingComponent || '',
  type: object => object.type ?? '',
}
