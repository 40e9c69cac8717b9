// SPDX-License-Identifier: Apache-2.0

import {
  asAtomic,
  atomicList,
  deduced,
  type FieldType,
  keyedList,
  mapOf,
  scalar,
  setList,
  struct,
} from './field-type.ts'

const text = scalar('string')
const time = scalar('untyped')
const whole = scalar('numeric')

const ownerReference = asAtomic(
  struct({
    apiVersion: text,
    blockOwnerDeletion: scalar('boolean'),
    controller: scalar('boolean'),
    kind: text,
    name: text,
    uid: text,
  }),
)

const managedFieldsEntry = struct({
  apiVersion: text,
  fieldsType: text,
  fieldsV1: mapOf(deduced),
  manager: text,
  operation: text,
  subresource: text,
  time,
})

/** The type of ObjectMeta. */
export const objectMetaType: FieldType = struct({
  annotations: mapOf(text),
  creationTimestamp: time,
  deletionGracePeriodSeconds: whole,
  deletionTimestamp: time,
  finalizers: setList(text),
  generateName: text,
  generation: whole,
  labels: mapOf(text),
  managedFields: atomicList(managedFieldsEntry),
  name: text,
  namespace: text,
  ownerReferences: keyedList(['uid'], ownerReference),
  resourceVersion: text,
  selfLink: text,
  uid: text,
})
