// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../../object.ts'
import type { Event } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'
import { validateEvent } from '../validation/event.ts'

export const eventStrategy: Partial<Strategy> = {
  createOnUpdate: true,
  validate: validateEvent,
  validateUpdate: () => [],
}

const involved = (object: KubeObject) => (object as unknown as Event).involvedObject ?? {}

export const eventSelectableFields: Record<string, (object: KubeObject) => string> = {
  'involvedObject.kind': object => involved(object).kind ?? '',
  'involvedObject.namespace': object => involved(object).namespace ?? '',
  'involvedObject.name': object => involved(object).name ?? '',
  'involvedObject.uid': object => involved(object).uid ?? '',
  'involvedObject.apiVersion': object => involved(object).apiVersion ?? '',
  'involvedObject.resourceVersion': object => involved(object).resourceVersion ?? '',
  'involvedObject.fieldPath': object => involved(object).fieldPath ?? '',
  reason: object => (object as unknown as Event).reason ?? '',
  reportingComponent: object => (object as unknown as Event).reportingComponent ?? '',
  source: object =>
    (object as unknown as Event).source?.component || (object as unknown as Event).reportingComponent || '',
  type: object => (object as unknown as Event).type ?? '',
}
