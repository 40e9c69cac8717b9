// SPDX-License-Identifier: Apache-2.0

import type { FieldOwnership } from './field-ownership.ts'
import { ApiError } from './status.ts'

/** No managedFields: they are dropped from requests, and server-side apply is rejected. */
export const untracked: FieldOwnership = {
  track(draft) {
    delete draft.metadata.managedFields
  },
  apply() {
    throw new ApiError(415, 'UnsupportedMediaType', 'server-side apply is disabled in this cluster')
  },
  dropTimeOnlyChanges: object => object,
}
