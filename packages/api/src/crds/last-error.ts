// SPDX-License-Identifier: Apache-2.0

import type { LastError } from '../types/index.ts'
import { list, object, required, string, time } from './schema.ts'

export const lastErrors = list(
  'Errors that the operator met when it last worked on the object.',
  object<LastError>('One error.', {
    code: required(string('Machine-readable code.')),
    description: required(string('The whole error text.')),
    observedAt: required(time('When the error occurred.')),
  }),
)
