// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '../kinds.ts'

export interface ClaimUse {
  /** The pod's own name for it. */
  readonly entry: string
  /** Undefined while the claim has not been made from its template. */
  readonly claim: string | undefined
  readonly template: string | undefined
}

/** The claims that a pod names, and what they are called in the cluster. Entries that need no claim are left out. */
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
