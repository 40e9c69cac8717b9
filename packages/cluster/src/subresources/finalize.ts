// SPDX-License-Identifier: Apache-2.0

import { validateFinalize } from '../registry/strategies/namespace.ts'
import type { ApiResponse } from '../server/request.ts'
import type { ResourceCall } from '../server/resource-call.ts'
import * as verbs from '../server/resource-verbs.ts'
import type { UpdateScope } from '../server/update.ts'

/** The namespace controller removes its finalizer from the spec when the namespace is empty. */
const finalizeScope: UpdateScope = {
  prepare(draft, live) {
    draft.status = structuredClone(live.status)
  },
  validate: validateFinalize,
}

export async function handleFinalize(call: ResourceCall): Promise<ApiResponse> {
  return verbs.update(call, finalizeScope)
}
