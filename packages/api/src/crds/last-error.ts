// SPDX-License-Identifier: Apache-2.0

import type { LastError } from '../types/index.ts'
import { list, object, required, string, time } from './schema.ts'

export const lastErrors = list(
  'Errors of the last reconcile of the object.',
  object<LastError>('One error.', {
    code: required(string('Machine-readable code.')),
    description: required(string('Error message.')),
    observedAt: required(time('Time of the error.')),
  }),
)
