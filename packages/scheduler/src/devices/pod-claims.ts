// SPDX-License-Identifier: Apache-2.0
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@grove/api'
import type { MissingObject } from '../types.ts'
import { unknownField } from './inventory.ts'

/** The claims that a pod names, as far as they are known. */
export interface ClaimUse {
  /** Namespaces and names of claims, in the order of the spec and without duplicates. */
  readonly claims: readonly string[]
  readonly missing: readonly MissingObject[]
  readonly unsupported: readonly string[]
}

const entryFields = new Set(['name', 'resourceClaimName', 'resourceClaimTemplateName'])

export function claimKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? 'default'}/${name}`
}

/** The status of the pod names claims that are generated from templates. Until then the pod waits. */
export function claimUse(
  { metadata, spec, status }: Pod,
  claims: ReadonlyMap<string, ResourceClaim>,
  templates: ReadonlyMap<string, ResourceClaimTemplate>,
): ClaimUse {
  const found = new Set<string>()
  const missing: MissingObject[] = []
  const unsupported: string[] = []
  for (const entry of spec.resourceClaims ?? []) {
    const { name, resourceClaimName, resourceClaimTemplateName: template } = entry
    const field = unknownField(entry as unknown as Readonly<Record<string, unknown>>, entryFields)
    if (field || (!resourceClaimName && !template)) {
      unsupported.push(field ? `spec.resourceClaims[].${field}` : 'spec.resourceClaims[] without a claim')
      continue
    }
    const generated = status?.resourceClaimStatuses?.find(other => other.name === name)
    // The controller of claims writes an entry without a name if the pod needs no claim.
    if (!resourceClaimName && generated && !generated.resourceClaimName) continue
    const claim = resourceClaimName ?? generated?.resourceClaimName
    if (claim === undefined) {
      const exists = templates.has(claimKey(metadata.namespace, template!))
      missing.push(
        exists
          ? { kind: 'ResourceClaim from template', name: template!, isAwaited: true }
          : { kind: 'ResourceClaimTemplate', name: template! },
      )
      continue
    }
    const key = claimKey(metadata.namespace, claim)
    const object = claims.get(key)
    if (!object || object.metadata.deletionTimestamp || !isFor(object, metadata, resourceClaimName))
      missing.push({ kind: 'ResourceClaim', name: claim })
    else found.add(key)
  }
  return { claims: [...found], missing, unsupported }
}

/** A generated claim belongs to one pod. A pod of the same name may have existed before. */
function isFor(
  { metadata }: ResourceClaim,
  pod: Pod['metadata'],
  resourceClaimName: string | undefined,
): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return resourceClaimName !== undefined || !owner || !pod.uid || owner.uid === pod.uid
}
