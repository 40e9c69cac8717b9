// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, PodCliqueSetResourceSharing } from '../../types/index.ts'
import { path } from './paths.ts'

/**
 * Limits for lists of a PodCliqueSet. All exceed the needs of a set of 1.5 MiB, the maximum size in etcd. Lists inside
 * a pod spec are bounded by the request size alone.
 */
export const listLimits = {
  cliques: 1000,
  scalingGroups: 1000,
  /** `cliqueNames`, `startsAfter` and the lists of a filter, which name cliques and groups. */
  references: 1000,
  resourceClaimTemplates: 256,
  /** For each level: set, scaling group, clique. Every pod gets all claims of its levels. */
  resourceSharing: 128,
} as const

interface List {
  readonly field: string
  /** Identifies the same list in the stored object, where its index may differ. */
  readonly key: string
  readonly length: number
  readonly limit: number
}

/**
 * Reports lists that are too long. This rule runs before all others, so that they process bounded lists. An update may
 * keep a stored list that exceeds its limit, but may not make it longer.
 */
export function validateListLengths(set: PodCliqueSet, old?: PodCliqueSet): FieldError[] {
  const tooLong = listsOf(set).filter(({ length, limit }) => length > limit)
  if (tooLong.length === 0) return []
  const before = new Map(old ? listsOf(old).map(({ key, length }) => [key, length]) : [])
  return tooLong
    .filter(({ key, length }) => length > (before.get(key) ?? 0))
    .map(({ field, length, limit }) => fieldError.tooMany(field, length, limit))
}

function listsOf({ spec: { template } }: PodCliqueSet): List[] {
  const { cliques, podCliqueScalingGroups: groups = [], resourceSharing, resourceClaimTemplates } = template
  const list = (
    field: string,
    key: string,
    entries: readonly unknown[] | undefined,
    limit: number,
  ): List[] => (entries ? [{ field, key, length: entries.length, limit }] : [])
  const sharing = (
    field: string,
    key: string,
    entries: readonly PodCliqueSetResourceSharing[] | undefined,
  ): List[] => [
    ...list(`${field}.resourceSharing`, `${key} sharing`, entries, listLimits.resourceSharing),
    ...(entries ?? []).flatMap(({ filter = {} }, at) =>
      (['childCliqueNames', 'childScalingGroupNames'] as const).flatMap(member =>
        list(
          `${field}.resourceSharing[${at}].filter.${member}`,
          `${key} sharing ${at} ${member}`,
          filter[member],
          listLimits.references,
        ),
      ),
    ),
  ]
  return [
    ...list(path.cliques, 'cliques', cliques, listLimits.cliques),
    ...list(path.scalingGroups, 'groups', groups, listLimits.scalingGroups),
    ...list(
      `${path.template}.resourceClaimTemplates`,
      'templates',
      resourceClaimTemplates,
      listLimits.resourceClaimTemplates,
    ),
    ...sharing(path.template, 'set', resourceSharing),
    ...cliques.flatMap(({ name, resourceSharing: shared, spec: { startsAfter } }, at) => [
      ...list(
        `${path.clique(at)}.spec.startsAfter`,
        `clique ${name} startsAfter`,
        startsAfter,
        listLimits.references,
      ),
      ...sharing(path.clique(at), `clique ${name}`, shared),
    ]),
    ...groups.flatMap(({ name, resourceSharing: shared, cliqueNames }, at) => [
      ...list(
        `${path.scalingGroup(at)}.cliqueNames`,
        `group ${name} cliqueNames`,
        cliqueNames,
        listLimits.references,
      ),
      ...sharing(path.scalingGroup(at), `group ${name}`, shared),
    ]),
  ]
}
