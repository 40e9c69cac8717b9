// SPDX-License-Identifier: Apache-2.0

// The status of resource claims as the scheduler writes it. Pure.
import type { AllocationResult, Pod, ResourceClaim } from '@grove/api'
import type { AllocatedDevice, DeviceClass } from '../types.ts'

/** Keeps a claim that is in use from being deleted. The Kubernetes scheduler uses the same finalizer. */
export const claimFinalizer = 'resource.kubernetes.io/delete-protection'

type Configuration = NonNullable<NonNullable<AllocationResult['devices']>['config']>

/** Drivers read the configuration of classes and of the claim from the allocation. */
export function allocationOf(
  { spec }: Pick<ResourceClaim, 'spec'>,
  devices: readonly AllocatedDevice[],
  node: string,
  classOf: (name: string) => DeviceClass | undefined,
): AllocationResult {
  const ofClasses = (spec?.devices?.requests ?? []).flatMap(({ name, exactly }) =>
    (classOf(exactly?.deviceClassName ?? '')?.spec?.config ?? []).map(config => ({
      ...config,
      source: 'FromClass',
      requests: [name],
    })),
  )
  const ofClaim = (spec?.devices?.config ?? []).map(config => ({ ...config, source: 'FromClaim' }))
  const config: Configuration = [...ofClasses, ...ofClaim]
  return {
    devices: { results: [...devices], ...(config.length > 0 && { config }) },
    nodeSelector: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
    },
  }
}

export function isReservedFor({ status }: ResourceClaim, uid: string): boolean {
  return status?.reservedFor?.some(consumer => consumer.uid === uid) ?? false
}

/** Reports whether an allocation consists of exactly these devices. */
export function hasDevices(allocation: AllocationResult, devices: readonly AllocatedDevice[]): boolean {
  const text = ({ request, driver, pool, device }: AllocatedDevice) =>
    JSON.stringify([request, driver, pool, device])
  const found = (allocation.devices?.results ?? []).map(text).sort()
  return JSON.stringify(found) === JSON.stringify(devices.map(text).sort())
}

/** Names of the claims of a pod that exist. */
function claimNames({ spec, status }: Pod): string[] {
  return (spec.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => {
    const generated = status?.resourceClaimStatuses?.find(other => other.name === name)
    return resourceClaimName ?? generated?.resourceClaimName ?? []
  })
}

/**
 * Claims that are allocated only for pods that wait. A scheduler that ended, or an attempt that failed, leaves them behind.
 * They pin their pods to nodes, so a gang that does not fit gives them back.
 */
export function unusedClaims<Claim extends ResourceClaim>(
  waiting: readonly Pod[],
  find: (ref: { readonly namespace: string; readonly name: string }) => Claim | undefined,
): Claim[] {
  const uids = new Set(waiting.map(({ metadata }) => metadata.uid))
  const found = new Map<string, Claim>()
  for (const pod of waiting)
    for (const name of claimNames(pod)) {
      const claim = find({ namespace: pod.metadata.namespace ?? 'default', name })
      const consumers = claim?.status?.reservedFor ?? []
      if (claim?.status?.allocation && consumers.every(({ uid }) => uids.has(uid))) found.set(name, claim)
    }
  return [...found.values()]
}
