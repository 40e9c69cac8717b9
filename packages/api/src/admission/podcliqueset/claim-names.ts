// SPDX-License-Identifier: Apache-2.0

// Claims are called after their owner and their template. Such a name may be none that an object can have;
// and claims of different levels may come to have one name: a template of the set that is called like a
// clique and one of its templates together. Then one of them could never be made.
import { dns1123Subdomain, type FieldError, fieldError, quote } from '@grove/apimachinery'
import { names } from '../../names.ts'
import type { PodCliqueSet, ResourceSharing } from '../../types/index.ts'
import { path } from './paths.ts'

interface Level {
  readonly field: string
  readonly owner: string
  readonly sharing: readonly ResourceSharing[]
}

export function collidingClaims(set: PodCliqueSet): FieldError[] {
  const indexes = mentionedIndexes(set)
  const levels = levelsOf(set, indexes)
  const makers = new Map<string, string>()
  const told = new Set<string>()
  const errors: FieldError[] = []
  for (const { field, owner, sharing } of levels)
    sharing.forEach((entry, at) => {
      const here = `${field}[${at}]`
      for (const claim of claimNames(owner, entry, indexes)) {
        const maker = makers.get(claim) ?? here
        makers.set(claim, maker)
        if (maker === here || told.has(here)) continue
        told.add(here)
        errors.push(
          fieldError.invalid(
            `${here}.name`,
            entry.name,
            `its ResourceClaim would be called ${quote(claim)}, and so would one of ${maker}`,
          ),
        )
      }
    })
  return errors
}

export function impossibleClaims(set: PodCliqueSet): FieldError[] {
  return levelsOf(set, [0]).flatMap(({ field, owner, sharing }) =>
    sharing.flatMap((entry, at) => {
      const [claim = ''] = claimNames(owner, entry, [0])
      const problems = entry.name === '' ? [] : dns1123Subdomain(claim)
      if (problems.length === 0) return []
      const detail = `its ResourceClaim would be called ${quote(claim)}: ${problems.join('; ')}`
      return [fieldError.invalid(`${field}[${at}].name`, entry.name, detail)]
    }),
  )
}

/**
 * Names of different replicas of the set differ alike: the first stands for all of them. Group replicas do
 * not.
 */
function levelsOf(
  { metadata: { name }, spec: { template } }: PodCliqueSet,
  groupReplicas: readonly number[],
): Level[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const shared = (resourceSharing: readonly ResourceSharing[] | undefined, field: string, owner: string) =>
    resourceSharing?.length ? [{ field: `${field}.resourceSharing`, owner, sharing: resourceSharing }] : []
  return [
    ...shared(template.resourceSharing, path.template, name),
    ...groups.flatMap((group, at) =>
      shared(group.resourceSharing, path.scalingGroup(at), names.scalingGroup(name, 0, group.name)),
    ),
    ...cliques.flatMap((clique, at) => {
      const group = groups.find(({ cliqueNames }) => cliqueNames.includes(clique.name))
      const owners = group
        ? groupReplicas.map(replica =>
            names.memberClique(names.scalingGroup(name, 0, group.name), replica, clique.name),
          )
        : [names.standaloneClique(name, 0, clique.name)]
      return owners.flatMap(owner => shared(clique.resourceSharing, path.clique(at), owner))
    }),
  ]
}

function claimNames(owner: string, { name, scope }: ResourceSharing, indexes: readonly number[]): string[] {
  return scope === 'AllReplicas'
    ? [names.claimForAllReplicas(owner, name)]
    : indexes.map(index => names.claimPerReplica(owner, index, name))
}

/** Only an index that stands in the name of a template can make it look like another claim. */
function mentionedIndexes({ spec: { template } }: PodCliqueSet): number[] {
  const sharing = [template, ...template.cliques, ...(template.podCliqueScalingGroups ?? [])].flatMap(
    ({ resourceSharing = [] }): readonly ResourceSharing[] => resourceSharing,
  )
  const texts = sharing.flatMap(({ name }) => name.match(/\d+/g) ?? [])
  return [...new Set([0, ...texts.map(Number)])]
}
