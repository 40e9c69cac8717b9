// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import { objectKey } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { validatePodResize } from '../registry/validation/pod-resize.ts'
import { atLeast } from '../registry/validation/values.ts'
import type { Pod, PodSpec } from '../schema/types.generated.ts'
import { getObject } from '../server/read.ts'
import type { ApiResponse } from '../server/request.ts'
import type { ResourceCall, SubresourceHandler } from '../server/resource-call.ts'
import * as verbs from '../server/resource-verbs.ts'
import { ApiError, apiError } from '../server/status.ts'
import { updateScope } from '../server/update.ts'

/** Returns the log of a container. Undefined if the container never ran. */
export type PodLogs = (
  pod: Pod,
  container: string,
  options: URLSearchParams,
) => string | undefined | Promise<string | undefined>

export function handleLog(logs: PodLogs): SubresourceHandler {
  return async ({ context, resource, info, request }: ResourceCall): Promise<ApiResponse> => {
    const errors = logOptionErrors(request.query)
    if (errors.length > 0) throw apiError.invalid({ kind: 'PodLogOptions', group: '' }, info.name, errors)
    const pod = context.store.get(storages.pods, objectKey(info.namespace, info.name))
    if (!pod) throw apiError.notFound(resource, info.name)
    const names = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(
      ({ name }) => name ?? '',
    )
    const asked = request.query.get('container') ?? ''
    const own = (pod.spec?.containers ?? []).map(({ name }) => name ?? '')
    if (!asked && own.length > 1)
      throw apiError.badRequest(
        `a container name must be specified for pod ${info.name}, choose one of: [${names.join(' ')}]`,
      )
    const container = asked || own[0]!
    if (!names.includes(container))
      throw apiError.badRequest(`container ${container} is not valid for pod ${info.name}`)
    // The pod is not scheduled, so no kubelet has logs.
    if (!pod.spec?.nodeName)
      return { status: 204, headers: { 'cache-control': 'no-cache, private' }, body: '' }
    if (request.query.get('previous') === 'true' && !hasEndedBefore(pod, container))
      throw apiError.badRequest(
        `previous terminated container "${container}" in pod "${info.name}" not found`,
      )
    const text = await logs(pod, container, request.query)
    if (text === undefined)
      throw apiError.badRequest(
        `container "${container}" in pod "${info.name}" is waiting to start: ContainerCreating`,
      )
    return {
      status: 200,
      headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' },
      body: text,
    }
  }
}

function logOptionErrors(query: URLSearchParams): FieldError[] {
  const number = (name: string) => {
    const text = query.get(name)
    if (!text) return undefined
    if (!/^[+-]?\d+$/.test(text))
      throw apiError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
    return Number(text)
  }
  const positive = (name: string) => {
    const value = number(name)
    return value === undefined || value > 0 ? [] : [fieldError.invalid(name, value, 'must be greater than 0')]
  }
  return [
    ...atLeast(0, number('tailLines'), 'tailLines'),
    ...positive('limitBytes'),
    ...positive('sinceSeconds'),
  ]
}

function hasEndedBefore({ status }: Pod, container: string): boolean {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return statuses.some(({ name, lastState }) => name === container && lastState?.terminated !== undefined)
}

/** Rejects `kubectl exec`, `attach`, `port-forward`, `cp` and `proxy`. */
export async function rejectConnection({ context, resource, info }: ResourceCall): Promise<ApiResponse> {
  getObject(context, resource, info.namespace, info.name)
  throw new ApiError(
    501,
    'NotImplemented',
    `pod ${info.name} is simulated: there is no container behind it that ${info.subresource} could reach`,
  )
}

/** Adds debug containers to a running pod. Other changes are dropped. */
const ephemeralScope = updateScope<Pod>({
  prepare(draft, live) {
    const wanted = draft.spec?.ephemeralContainers
    const spec = structuredClone(live.spec ?? {})
    if (wanted) spec.ephemeralContainers = wanted
    draft.spec = spec
    draft.status = structuredClone(live.status)
    draft.metadata = { ...structuredClone(live.metadata), managedFields: draft.metadata.managedFields }
  },
  validate(draft, live) {
    const now = draft.spec?.ephemeralContainers ?? []
    const before = live.spec?.ephemeralContainers ?? []
    return before.every(({ name }) => now.some(other => other.name === name))
      ? []
      : [fieldError.forbidden('spec.ephemeralContainers', 'existing ephemeral containers may not be removed')]
  },
})

/** Changes cpu and memory of a running pod. Other changes are dropped. */
const resizeScope = updateScope<Pod>({
  prepare(draft, live) {
    const wanted = draft.spec ?? {}
    const pod = structuredClone(live)
    if (wanted.containers?.length === pod.spec?.containers?.length) copyResources(pod, wanted)
    else pod.spec = { ...pod.spec, containers: wanted.containers }
    draft.spec = pod.spec
    draft.status = pod.status
    draft.metadata = { ...structuredClone(live.metadata), managedFields: draft.metadata.managedFields }
    if (!equalJson(draft.spec, live.spec)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1
  },
  validate: (draft, live) => validatePodResize(draft.spec ?? {}, live.spec ?? {}),
})

function copyResources(pod: Pod, wanted: PodSpec): void {
  for (const list of ['containers', 'initContainers'] as const)
    for (const container of pod.spec?.[list] ?? []) {
      const asked = wanted[list]?.find(({ name }) => name === container.name)
      if (asked) {
        if (asked.resources) container.resources = asked.resources
        if (asked.resizePolicy) container.resizePolicy = asked.resizePolicy
      }
    }
}

export async function handleResize(call: ResourceCall): Promise<ApiResponse> {
  if (call.info.verb === 'get') return verbs.get(call)
  return call.info.verb === 'patch' ? verbs.patch(call, resizeScope) : verbs.update(call, resizeScope)
}

export async function handleEphemeralContainers(call: ResourceCall): Promise<ApiResponse> {
  if (call.info.verb === 'get') return verbs.get(call)
  return call.info.verb === 'patch' ? verbs.patch(call, ephemeralScope) : verbs.update(call, ephemeralScope)
}
