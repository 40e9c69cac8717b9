// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import { path } from './paths.ts'
import { cliqueConstraints, groupConstraints, setConstraints } from './topology-constraints.ts'

const missingName = 'topologyName is required when topologyConstraint is set and cannot be inherited'
const differentNames =
  'all topologyConstraint.topologyName values within a PodCliqueSet must match in the current implementation'

export interface TopologyNames {
  /** The name that all constraints resolve to. Absent if there is none or more than one. */
  readonly name: string | undefined
  readonly errors: readonly FieldError[]
  /** A constraint names no topology and cannot inherit one. */
  readonly isNameMissing: boolean
}

/**
 * Resolves the topology of a PodCliqueSet. Scaling groups and cliques inherit the name of the set, and members inherit
 * the name of their scaling group.
 */
export function resolveTopologyNames(set: PodCliqueSet): TopologyNames {
  const { topologyConstraint, cliques, podCliqueScalingGroups = [] } = set.spec.template
  const errors: FieldError[] = []
  const resolved = new Set<string>()
  let isNameMissing = false

  const resolve = (
    constraint: TopologyConstraint | undefined,
    field: string,
    inherited: string | undefined,
  ): string | undefined => {
    if (!constraint) return undefined
    const name = constraint.topologyName || inherited
    if (!name) {
      isNameMissing = true
      errors.push(fieldError.required(`${field}.topologyConstraint.topologyName`, missingName))
      return undefined
    }
    if (inherited && name !== inherited) {
      errors.push(fieldError.invalid(`${field}.topologyConstraint.topologyName`, name, differentNames))
      return undefined
    }
    resolved.add(name)
    return name
  }

  const nameOfSet = resolve(topologyConstraint, path.template, undefined)
  const nameOfGroup = new Map<string, string>()
  podCliqueScalingGroups.forEach((group, index) => {
    const name = resolve(group.topologyConstraint, path.scalingGroup(index), nameOfSet)
    if (!name) return
    for (const member of group.cliqueNames) if (!nameOfGroup.has(member)) nameOfGroup.set(member, name)
  })
  cliques.forEach((clique, index) => {
    resolve(clique.topologyConstraint, path.clique(index), nameOfGroup.get(clique.name) ?? nameOfSet)
  })
  const [name] = resolved
  if (resolved.size <= 1) return { name, errors, isNameMissing }
  return { name: undefined, errors: withoutRepetition([...errors, ...explicitNames(set)]), isNameMissing }
}

/** A name that contradicts an inherited one is reported once, although it is also explicit. */
function withoutRepetition(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map(error => [error.field, error])).values()]
}

/** Two constraints resolve to different topologies. No rule prefers one, so all explicit names are reported. */
function explicitNames(set: PodCliqueSet): FieldError[] {
  return [...setConstraints(set), ...groupConstraints(set), ...cliqueConstraints(set)]
    .filter(({ constraint }) => constraint.topologyName)
    .map(({ field, constraint }) =>
      fieldError.invalid(`${field}.topologyName`, constraint.topologyName, differentNames),
    )
}
