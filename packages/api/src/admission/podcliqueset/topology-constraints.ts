// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import { path } from './paths.ts'

/** A constraint with the place where it stands. */
export interface PlacedConstraint {
  readonly field: string
  readonly constraint: TopologyConstraint
}

/** The domain that has to be met, in either spelling. Empty if there is none. */
export function requiredDomain(constraint: TopologyConstraint | undefined): string {
  return constraint?.pack?.required || constraint?.packDomain || ''
}

export function preferredDomain(constraint: TopologyConstraint | undefined): string {
  return constraint?.pack?.preferred || ''
}

/** Every domain a constraint speaks of, once. */
export function referencedDomains(constraint: TopologyConstraint): string[] {
  return [...new Set([requiredDomain(constraint), preferredDomain(constraint)])].filter(
    domain => domain !== '',
  )
}

function placed(field: string, constraint: TopologyConstraint | undefined): PlacedConstraint[] {
  return constraint ? [{ field: `${field}.topologyConstraint`, constraint }] : []
}

export function setConstraints(set: PodCliqueSet): PlacedConstraint[] {
  return placed(path.template, set.spec.template.topologyConstraint)
}

export function cliqueConstraints(set: PodCliqueSet): PlacedConstraint[] {
  return set.spec.template.cliques.flatMap((clique, index) =>
    placed(path.clique(index), clique.topologyConstraint),
  )
}

export function groupConstraints(set: PodCliqueSet): PlacedConstraint[] {
  return (set.spec.template.podCliqueScalingGroups ?? []).flatMap((group, index) =>
    placed(path.scalingGroup(index), group.topologyConstraint),
  )
}

/** All of them in the order in which most rules report: the set, cliques, scaling groups. */
export function allConstraints(set: PodCliqueSet): PlacedConstraint[] {
  return [...setConstraints(set), ...cliqueConstraints(set), ...groupConstraints(set)]
}
