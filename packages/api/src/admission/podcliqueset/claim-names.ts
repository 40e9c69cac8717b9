// SPDX-License-Identifier: Apache-2.0

// The name of a claim consists of the names of its owner and its template. It may be an invalid object name. Claims of
// different levels may also get the same name: template `worker-all-gpu` of the set, and template `gpu` of its clique
// `worker`. The operator could then create only one of them.
import { dns1123Subdomain, type FieldError, fieldError, quote } from '@grove/apimachinery'
import type { PodCliqueSet, ResourceSharing } from '../../types/index.ts'
import { groupsOfMembers } from './group-members.ts'
import { anyIndex, commonName, earlierTwins, type NamePattern, namePattern } from './name-patterns.ts'
import { path } from './paths.ts'

interface Claim {
  /** The entry that requests the claim. */
  readonly field: string
  readonly entry: ResourceSharing
  /** The name of the claim without the name of the set. */
  readonly pattern: NamePattern
  /** The name of the first such claim. */
  readonly name: string
}

export function collidingClaims(set: PodCliqueSet): FieldError[] {
  // Invalid names are reported separately.
  const claims = claimsOf(set).filter(({ name }) => dns1123Subdomain(name).length === 0)
  const twins = earlierTwins(claims.map(({ pattern }) => pattern))
  return claims.flatMap(({ field, entry, pattern }, position) => {
    const twin = twins[position] === undefined ? undefined : claims[twins[position]]
    if (!twin) return []
    const name = `${set.metadata.name}-${commonName(pattern, twin.pattern)}`
    const detail = `its ResourceClaim would have the name ${quote(name)}, like a ResourceClaim of ${twin.field}`
    return [fieldError.invalid(`${field}.name`, entry.name, detail)]
  })
}

export function impossibleClaims(set: PodCliqueSet): FieldError[] {
  return claimsOf(set).flatMap(({ field, entry, name }) => {
    const problems = entry.name === '' ? [] : dns1123Subdomain(name)
    if (problems.length === 0) return []
    const detail = `its ResourceClaim would have the name ${quote(name)}: ${problems.join('; ')}`
    return [fieldError.invalid(`${field}.name`, entry.name, detail)]
  })
}

/** Names in different replicas of the set differ only in the replica index, so the first replica represents all. */
const firstReplica = '0'

/** One claim per entry: of the set, its scaling groups and its cliques, in this order. */
function claimsOf({ metadata, spec: { template } }: PodCliqueSet): Claim[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const groupOf = groupsOfMembers(template)
  const claim = (field: string, entry: ResourceSharing, ...owner: NamePattern): Claim => {
    const pattern = namePattern(...owner, entry.name)
    return { field, entry, pattern, name: `${metadata.name}-${commonName(pattern, pattern)}` }
  }
  const shared = (
    sharing: readonly ResourceSharing[] | undefined,
    field: string,
    ...owner: NamePattern
  ): Claim[] =>
    (sharing ?? []).map((entry, at) =>
      claim(
        `${field}.resourceSharing[${at}]`,
        entry,
        ...owner,
        entry.scope === 'AllReplicas' ? 'all' : anyIndex,
      ),
    )
  return [
    ...(template.resourceSharing ?? []).map((entry, at) =>
      claim(
        `${path.template}.resourceSharing[${at}]`,
        entry,
        entry.scope === 'AllReplicas' ? 'all' : firstReplica,
      ),
    ),
    ...groups.flatMap((group, at) =>
      shared(group.resourceSharing, path.scalingGroup(at), firstReplica, group.name),
    ),
    ...cliques.flatMap((clique, at) => {
      const group = groupOf.get(clique.name)
      const owner: NamePattern = group ? [group.name, anyIndex, clique.name] : [clique.name]
      return shared(clique.resourceSharing, path.clique(at), firstReplica, ...owner)
    }),
  ]
}
