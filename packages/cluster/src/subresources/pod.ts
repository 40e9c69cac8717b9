// SPDX-License-Identifier: Apache-2.0

import { fieldError } from '@grove/apimachinery'
import type { Pod } from '../schema/types.generated.ts'
import { getObject } from '../server/read.ts'
import type { ApiResponse } from '../server/request.ts'
import type { ResourceCall, SubresourceHandler } from '../server/resource-call.ts'
import * as verbs from '../server/resource-verbs.ts'
import { refuse } from '../server/status.ts'
import type { UpdateScope } from '../server/update.ts'

/** What a container wrote, as the kubelet knows it. Undefined when no such container ever ran. */
export type PodLogs = (
  pod: Pod,
  container: string,
  options: URLSearchParams,
) => string | undefined | Promise<string | undefined>

export function answerLog(logs: PodLogs): SubresourceHandler {
  return async ({ context, resource, info, request }: ResourceCall): Promise<ApiResponse> => {
    const pod = getObject(context, resource, info.namespace, info.name) as unknown as Pod
    const names = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(
      ({ name }) => name ?? '',
    )
    const asked = request.query.get('container') ?? ''
    const own = (pod.spec?.containers ?? []).map(({ name }) => name ?? '')
    if (!asked && own.length > 1)
      throw refuse.badRequest(
        `a container name must be specified for pod ${info.name}, choose one of: [${names.join(' ')}]`,
      )
    const container = asked || own[0]!
    if (!names.includes(container))
      throw refuse.badRequest(`container ${container} is not valid for pod ${info.name}`)
    // Nowhere to ask yet.
    if (!pod.spec?.nodeName)
      return { status: 204, headers: { 'cache-control': 'no-cache, private' }, body: '' }
    const text = await logs(pod, container, request.query)
    if (text === undefined)
      throw refuse.badRequest(
        `container "${container}" in pod "${info.name}" is waiting to start: ContainerCreating`,
      )
    return {
      status: 200,
      headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' },
      body: text,
    }
  }
}

/** Debug containers are added to a running pod; nothing else changes. */
const ephemeralScope: UpdateScope = {
  prepare(draft, live) {
    const wanted = (draft as unknown as Pod).spec?.ephemeralContainers
    const spec = structuredClone((live as unknown as Pod).spec ?? {})
    if (wanted) spec.ephemeralContainers = wanted
    draft.spec = spec
    draft.status = structuredClone(live.status)
    draft.metadata = { ...structuredClone(live.metadata), managedFields: draft.metadata.managedFields }
  },
  validate(draft, live) {
    const now = (draft as unknown as Pod).spec?.ephemeralContainers ?? []
    const before = (live as unknown as Pod).spec?.ephemeralContainers ?? []
    return before.every(({ name }) => now.some(other => other.name === name))
      ? []
      : [fieldError.forbidden('spec.ephemeralContainers', 'existing ephemeral containers may not be removed')]
  },
}

export async function answerEphemeralContainers(call: ResourceCall): Promise<ApiResponse> {
  if (call.info.verb === 'get') return verbs.get(call)
  return call.info.verb === 'patch' ? verbs.patch(call, ephemeralScope) : verbs.update(call, ephemeralScope)
}
