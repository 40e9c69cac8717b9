// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import { objectKey } from '../object.ts'
import type { Namespace } from '../schema/types.generated.ts'
import type { ApiResponse } from '../server/request.ts'
import type { ResourceCall } from '../server/resource-call.ts'
import * as verbs from '../server/resource-verbs.ts'
import type { UpdateScope } from '../server/update.ts'

/** How the namespace controller says that a namespace is empty: it takes its finalizer out of the spec. */
const finalizeScope: UpdateScope = {
  prepare(draft, live) {
    draft.status = structuredClone(live.status)
  },
  validate: () => [],
}

export async function answerFinalize(call: ResourceCall): Promise<ApiResponse> {
  const answer = await verbs.update(call, finalizeScope)
  removeIfFinal(call)
  return answer
}

function removeIfFinal({ context, resource, info }: ResourceCall): void {
  const stored: KubeObject | undefined = context.store.get(resource.storage, objectKey('', info.name))
  if (!stored?.metadata.deletionTimestamp || stored.metadata.finalizers?.length) return
  if ((stored as unknown as Namespace).spec?.finalizers?.length) return
  context.store.remove(resource.storage, objectKey('', info.name), stored)
}
