// SPDX-License-Identifier: Apache-2.0

import type { Cause, CauseObject } from './causes.ts'

/** Up to this number, the objects of a cause are listed by name. JSON contains all of them. */
const listedObjects = 3

/** The cause as one sentence. */
export function causeText({ reason, message, objects, pods, since }: Cause): string {
  const waits = pods === 0 ? '' : `, ${pods} ${pods === 1 ? 'pod waits' : 'pods wait'}`
  return `${causeObjects(objects)}: ${reason}${since === undefined ? '' : ` since ${since}`}${waits}: ${message}`
}

/** The objects of a cause, by name if they are few. */
export function causeObjects(objects: readonly CauseObject[]): string {
  const [{ kind, name }] = objects as [CauseObject, ...CauseObject[]]
  if (objects.length === 1) return `${kind} ${name}`
  if (objects.length > listedObjects) return `${objects.length} ${kind}s, such as ${name}`
  return `${kind}s ${objects.map(object => object.name).join(', ')}`
}
