// SPDX-License-Identifier: Apache-2.0

import type { Condition } from '../kubernetes/index.ts'
import { choice, int64, list, object, required, string, time } from './schema.ts'

const condition = object<Condition>('One aspect of the state.', {
  type: required(
    string('What the condition is about.', {
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
  ),
  status: required(choice('Whether it holds.', ['True', 'False', 'Unknown'])),
  lastTransitionTime: required(time('When `status` changed last.')),
  reason: required(
    string('Why, in one word for programs.', {
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
  ),
  message: required(string('Why, in a sentence for people; may be empty.', { maxLength: 32768 })),
  observedGeneration: int64('The generation of the object that the condition was computed from.', {
    minimum: 0,
  }),
})

/** Atomic, not a map by type: that one type occurs once is kept by whoever writes the list. */
export const conditions = list('What is known about the state of the object, one entry per type.', condition)
