// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '../kinds.ts'

export interface ClaimUse {
  /** The name in the pod's spec. */
  readonly entry: string
  /** Undefined until the claim is created from its template. */
  readonly claim: string | undefined
  readonly template: string | undefined
}

/** The claims of a pod, and the names of their ResourceClaims. Entries that need no claim are omitted. */
export function claimsOf(pod: Pod): ClaimUse[] {
  const uses: ClaimUse[] = []
  for (const { name = '', resourceClaimName, resourceClaimTemplateName } of pod.spec?.resourceClaims ?? []) {
    const status = pod.status?.resourceClaimStatuses?.find(each => each.name === name)
    if (status && status.resourceClaimName === undefined) continue
    uses.push({
      entry: name,
      claim: resourceClaimName ?? status?.resourceClaimName,
      template: resourceClaimTemplateName,
    })
  }
  return uses
}
