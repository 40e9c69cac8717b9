// SPDX-License-Identifier: Apache-2.0
import type { Pod, ResourceClaim } from '@grove/api'
import { claimKey } from '../devices/pod-claims.ts'

export interface ClaimingPods {
  readonly pods: readonly Pod[]
  readonly resourceClaims: readonly ResourceClaim[]
}

/**
 * The pods of a copy, with copies of these claims that are not allocated. A copy of a set shares no claim with a set that
 * runs. Claims that are not in the list stay as they are.
 */
export function withOwnClaims({ pods, resourceClaims }: ClaimingPods): ClaimingPods {
  const known = new Set(resourceClaims.map(({ metadata }) => claimKey(metadata.namespace, metadata.name)))
  const used = new Set<string>()
  const ofCopy = (pod: Pod): Pod => {
    const rename = <Entry extends { resourceClaimName?: string }>(entry: Entry): Entry => {
      const key = claimKey(pod.metadata.namespace, entry.resourceClaimName ?? '')
      if (!entry.resourceClaimName || !known.has(key)) return entry
      used.add(key)
      return { ...entry, resourceClaimName: nameOfCopy(entry.resourceClaimName) }
    }
    const { resourceClaims: entries } = pod.spec
    const { resourceClaimStatuses: statuses } = pod.status ?? {}
    if (!entries?.length) return pod
    return {
      ...pod,
      spec: { ...pod.spec, resourceClaims: entries.map(rename) },
      ...(statuses && { status: { ...pod.status, resourceClaimStatuses: statuses.map(rename) } }),
    }
  }
  return {
    pods: pods.map(ofCopy),
    resourceClaims: resourceClaims
      .filter(({ metadata }) => used.has(claimKey(metadata.namespace, metadata.name)))
      .map(({ status: _, ...claim }) => ({
        ...claim,
        metadata: {
          name: nameOfCopy(claim.metadata.name),
          ...(claim.metadata.namespace && { namespace: claim.metadata.namespace }),
        },
      })),
  }
}

/** No Kubernetes object can have such a name. */
function nameOfCopy(name: string): string {
  return `${name} (copy)`
}
