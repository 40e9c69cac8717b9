// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, quote } from '@grove/apimachinery'
import type { PodCliqueSet, ResourceSharing } from '../../types/index.ts'
import { path } from './paths.ts'

/** Allows every namespace in the list of allowed namespaces. */
const anyNamespace = '*'

/**
 * Rejects claim templates of other namespaces if the operator configuration restricts them. The operator reads and
 * copies templates with its own permissions, so the restriction applies to every author of a PodCliqueSet.
 */
export function validateForeignClaimTemplates(
  set: PodCliqueSet,
  allowedNamespaces: readonly string[],
): FieldError[] {
  const allowed = new Set(allowedNamespaces)
  if (allowed.has(anyNamespace)) return []
  const errors: FieldError[] = []
  for (const [field, sharing] of sharingLists(set)) {
    sharing.forEach((entry, index) => {
      const { namespace } = entry
      if (!namespace || namespace === set.metadata.namespace || allowed.has(namespace)) return
      errors.push(
        fieldError.forbidden(
          `${field}[${index}].namespace`,
          `claim templates of namespace ${quote(namespace)} may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`,
        ),
      )
    })
  }
  return errors
}

function sharingLists(set: PodCliqueSet): [field: string, sharing: readonly ResourceSharing[]][] {
  const { resourceSharing, cliques, podCliqueScalingGroups } = set.spec.template
  return [
    [`${path.template}.resourceSharing`, resourceSharing ?? []],
    ...cliques.map((clique, index): [string, readonly ResourceSharing[]] => [
      `${path.clique(index)}.resourceSharing`,
      clique.resourceSharing ?? [],
    ]),
    ...(podCliqueScalingGroups ?? []).map((group, index): [string, readonly ResourceSharing[]] => [
      `${path.scalingGroup(index)}.resourceSharing`,
      group.resourceSharing ?? [],
    ]),
  ]
}
