// SPDX-License-Identifier: Apache-2.0

// The cliques that an instance waits for before its containers start. The order applies within one gang: a scaled group
// replica waits only for its own siblings.
import {
  type CliqueInstance,
  groupOf,
  memberCliques,
  minAvailableOfClique,
  minAvailableOfGroup,
  range,
  scalingGroup,
  standaloneClique,
} from './layout.ts'
import type { StoredSet } from './stored.ts'

export interface StartupParent {
  readonly name: string
  /** The number of the parent's pods that must be ready. */
  readonly minAvailable: number
}

export function startupParents(set: StoredSet, clique: CliqueInstance): StartupParent[] {
  const parents = parentTemplates(set, clique).flatMap(parent =>
    clique.basePodGang === undefined
      ? inBaseGang(set, clique, parent)
      : inSameGroupReplica(set, clique, parent),
  )
  return parents.map(parent => ({ name: parent.name, minAvailable: minAvailableOfClique(parent.template) }))
}

function parentTemplates(set: StoredSet, clique: CliqueInstance): string[] {
  const { cliques, cliqueStartupType } = set.spec.template
  switch (cliqueStartupType) {
    case 'CliqueStartupTypeInOrder': {
      const position = cliques.findIndex(template => template.name === clique.template.name)
      return position > 0 ? [cliques[position - 1]!.name] : []
    }
    case 'CliqueStartupTypeExplicit':
      return [...(clique.template.spec.startsAfter ?? [])]
    default:
      return []
  }
}

/** Every instance of the parent in the base gang. A parent in a group has one in each replica below minAvailable. */
function inBaseGang(set: StoredSet, clique: CliqueInstance, parent: string): CliqueInstance[] {
  const template = set.spec.template.cliques.find(candidate => candidate.name === parent)
  if (!template) return []
  const config = groupOf(set, parent)
  if (!config) return [standaloneClique(set, clique.setReplica, template)]
  const instance = scalingGroup(set, clique.setReplica, config)
  return range(0, minAvailableOfGroup(config)).flatMap(replica =>
    memberCliques(set, instance, replica).filter(member => member.template.name === parent),
  )
}

function inSameGroupReplica(set: StoredSet, clique: CliqueInstance, parent: string): CliqueInstance[] {
  if (!clique.group) return []
  return memberCliques(set, clique.group.instance, clique.group.replica).filter(
    member => member.template.name === parent,
  )
}
