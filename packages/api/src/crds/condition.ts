// SPDX-License-Identifier: Apache-2.0

import type { Condition } from '../kubernetes/index.ts'
import { choice, int64, list, object, required, string, time } from './schema.ts'

const condition = object<Condition>('One aspect of the state.', {
  type: required(
    string('Type of the condition.', {
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
  ),
  status: required(choice('Status of the condition.', ['True', 'False', 'Unknown'])),
  lastTransitionTime: required(time('Time of the last change of `status`.')),
  reason: required(
    string('Machine-readable reason of the last change.', {
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
  ),
  message: required(string('Human-readable details. May be empty.', { maxLength: 32768 })),
  observedGeneration: int64('Generation of the object at the time of the condition.', {
    minimum: 0,
  }),
})

/** Atomic, not a map by type: the writer of the list ensures that each type occurs once. */
export const conditions = list('Conditions of the object, one entry per type.', condition)
