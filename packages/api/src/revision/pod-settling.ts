// SPDX-License-Identifier: Apache-2.0

// Rules of the canonical form that look at more than one field. Each changes an object that was made for it and
// whose members are canonical already; doing it twice changes nothing more.
import { listOf, objectOf } from './input.ts'
import { defaultPullPolicy, unorderedLists } from './pod-rules.ts'
import { sortMember } from './sorting.ts'

type Members = Record<string, unknown>

export function settlePodSpec(podSpec: Members): void {
  // The old name of the service account is an alias; the new one wins.
  if (podSpec.serviceAccount !== undefined) {
    podSpec.serviceAccountName ??= podSpec.serviceAccount
    delete podSpec.serviceAccount
  }
  if (podSpec.hostNetwork === true) {
    for (const list of [podSpec.containers, podSpec.initContainers])
      for (const container of listOf(list)) dropHostPorts(container)
  }
}

/** On the host's network a container port is a host port. */
function dropHostPorts(container: unknown): void {
  const { ports } = objectOf(container)
  for (const port of listOf(ports)) {
    const { hostPort, containerPort } = objectOf(port)
    if (hostPort !== undefined && hostPort === containerPort) delete (port as Members).hostPort
  }
  if (ports !== undefined) sortMember(container as Members, 'ports', unorderedLists['v1.Container']!.ports!)
}

/** Ephemeral containers have no resources, so nothing follows from their limits. */
export function settleContainer(container: Members, requestsFollowLimits: boolean): void {
  if (container.imagePullPolicy === defaultPullPolicy(textOf(container.image)))
    delete container.imagePullPolicy
  if (requestsFollowLimits) dropImpliedRequests(container)
}

/** In a pod, a request that is not given equals the limit. */
function dropImpliedRequests(container: Members): void {
  const resources = container.resources as Members | undefined
  const requests = objectOf(resources).requests as Members | undefined
  const limits = objectOf(objectOf(resources).limits)
  if (!resources || typeof requests !== 'object') return
  for (const name of Object.keys(requests)) if (requests[name] === limits[name]) delete requests[name]
  if (Object.keys(requests).length === 0) delete resources.requests
}

/** A volume that does not say what it is, is an empty directory. */
export function settleVolume(volume: Members): void {
  for (const key in volume) if (key !== 'name') return
  volume.emptyDir = {}
}

export function settleImageVolume(image: Members): void {
  if (image.pullPolicy === defaultPullPolicy(textOf(image.reference))) delete image.pullPolicy
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
