// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import { path } from './paths.ts'

/** A constraint with its field path. */
export interface LocatedConstraint {
  readonly field: string
  readonly constraint: TopologyConstraint
}

/** The required domain, from either field. Empty if there is none. */
export function requiredDomain(constraint: TopologyConstraint | undefined): string {
  return constraint?.pack?.required || constraint?.packDomain || ''
}

export function preferredDomain(constraint: TopologyConstraint | undefined): string {
  return constraint?.pack?.preferred || ''
}

/** Every domain that a constraint names, once. */
export function referencedDomains(constraint: TopologyConstraint): string[] {
  return [...new Set([requiredDomain(constraint), preferredDomain(constraint)])].filter(
    domain => domain !== '',
  )
}

function located(field: string, constraint: TopologyConstraint | undefined): LocatedConstraint[] {
  return constraint ? [{ field: `${field}.topologyConstraint`, constraint }] : []
}

export function setConstraints(set: PodCliqueSet): LocatedConstraint[] {
  return located(path.template, set.spec.template.topologyConstraint)
}

export function cliqueConstraints(set: PodCliqueSet): LocatedConstraint[] {
  return set.spec.template.cliques.flatMap((clique, index) =>
    located(path.clique(index), clique.topologyConstraint),
  )
}

export function groupConstraints(set: PodCliqueSet): LocatedConstraint[] {
  return (set.spec.template.podCliqueScalingGroups ?? []).flatMap((group, index) =>
    located(path.scalingGroup(index), group.topologyConstraint),
  )
}

/** All constraints in the order of most error reports: the set, cliques, scaling groups. */
export function allConstraints(set: PodCliqueSet): LocatedConstraint[] {
  return [...setConstraints(set), ...cliqueConstraints(set), ...groupConstraints(set)]
}
