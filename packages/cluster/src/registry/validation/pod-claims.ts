// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, dns1123Subdomain, type FieldError, fieldError } from '@grove/apimachinery'
import type { PodResourceClaim, PodSpec } from '../../schema/types.generated.ts'
import { named, obeys } from './values.ts'

/** Validates the resource claims of a pod and their use in containers. */
export function validatePodClaims(spec: PodSpec, field: string): FieldError[] {
  const claims = spec.resourceClaims ?? []
  const names = claims.map(({ name }) => name ?? '')
  return [
    ...claims.flatMap((claim, index) => {
      const at = `${field}.resourceClaims[${index}]`
      return names.indexOf(claim.name ?? '') < index
        ? [fieldError.duplicate(`${at}.name`, claim.name)]
        : validateClaim(claim, at)
    }),
    ...(['containers', 'initContainers'] as const).flatMap(part =>
      (spec[part] ?? []).flatMap((container, index) =>
        validateUse(
          (container.resources?.claims ?? []).map(({ name, request }) => ({ name: name ?? '', request })),
          names,
          `${field}.${part}[${index}].resources.claims`,
        ),
      ),
    ),
  ]
}

function validateClaim(claim: PodResourceClaim, field: string): FieldError[] {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim
  const errors = named(name, dns1123Label, `${field}.name`)
  const shown = {
    Name: name ?? '',
    ResourceClaimName: resourceClaimName ?? null,
    ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
  }
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
    errors.push(
      fieldError.invalid(
        field,
        shown,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      ),
    )
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
    errors.push(
      fieldError.invalid(
        field,
        shown,
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ),
    )
  for (const part of ['resourceClaimName', 'resourceClaimTemplateName'] as const)
    if (claim[part] !== undefined) errors.push(...obeys(claim[part], dns1123Subdomain, `${field}.${part}`))
  return errors
}

function validateUse(
  uses: readonly { readonly name: string; readonly request?: string }[],
  known: readonly string[],
  field: string,
): FieldError[] {
  const seen = new Set<string>()
  return uses.flatMap(({ name, request }, index) => {
    const at = `${field}[${index}]`
    const key = request === undefined ? name : `${name}/${request}`
    if (seen.has(key)) return [fieldError.duplicate(at, key)]
    seen.add(key)
    if (name === '') return [fieldError.required(`${at}.name`)]
    if (known.includes(name)) return []
    const which = known.length === 0 ? ' which is empty' : ''
    return [
      {
        ...fieldError.notFound(at, name),
        detail: `must be one of the names in pod.spec.resourceClaims${which}`,
      },
    ]
  })
}
