// SPDX-License-Identifier: Apache-2.0

// Rules of the canonical form that read several fields. Each modifies a fresh object whose fields are canonical
// already, and is idempotent.
import { listOf, objectOf } from './input.ts'
import { defaultPullPolicy, unorderedLists } from './pod-rules.ts'
import { sortMember } from './sorting.ts'

type Members = Record<string, unknown>

export function normalizePodSpec(podSpec: Members): void {
  // `serviceAccount` is a deprecated alias of `serviceAccountName`, which takes precedence.
  if (podSpec.serviceAccount !== undefined) {
    podSpec.serviceAccountName ??= podSpec.serviceAccount
    delete podSpec.serviceAccount
  }
  if (podSpec.hostNetwork === true) {
    for (const list of [podSpec.containers, podSpec.initContainers])
      for (const container of listOf(list)) dropHostPorts(container)
  }
}

/** With host network, the host port of a container defaults to its container port. */
function dropHostPorts(container: unknown): void {
  const { ports } = objectOf(container)
  for (const port of listOf(ports)) {
    const { hostPort, containerPort } = objectOf(port)
    if (hostPort !== undefined && hostPort === containerPort) delete (port as Members).hostPort
  }
  if (ports !== undefined) sortMember(container as Members, 'ports', unorderedLists['v1.Container']!.ports!)
}

/** Ephemeral containers have no resources, so their requests do not follow limits. */
export function normalizeContainer(container: Members, requestsFollowLimits: boolean): void {
  if (container.imagePullPolicy === defaultPullPolicy(textOf(container.image)))
    delete container.imagePullPolicy
  if (requestsFollowLimits) dropImpliedRequests(container)
}

/** In a pod, an absent request defaults to the limit. */
function dropImpliedRequests(container: Members): void {
  const resources = container.resources as Members | undefined
  const requests = objectOf(resources).requests as Members | undefined
  const limits = objectOf(objectOf(resources).limits)
  if (!resources || typeof requests !== 'object') return
  for (const name of Object.keys(requests)) if (requests[name] === limits[name]) delete requests[name]
  if (Object.keys(requests).length === 0) delete resources.requests
}

/** A volume without a source is an emptyDir. */
export function normalizeVolume(volume: Members): void {
  for (const key in volume) if (key !== 'name') return
  volume.emptyDir = {}
}

export function normalizeImageVolume(image: Members): void {
  if (image.pullPolicy === defaultPullPolicy(textOf(image.reference))) delete image.pullPolicy
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
