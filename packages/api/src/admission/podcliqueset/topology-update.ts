// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, quote } from '@grove/apimachinery'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import type { ClusterView } from '../cluster-view.ts'
import { path } from './paths.ts'
import { allConstraints, preferredDomain, referencedDomains, requiredDomain } from './topology-constraints.ts'
import { type TopologyOutcome, validateTopologyOnCreate } from './topology-create.ts'
import { resolveTopologyNames } from './topology-names.ts'

// Constraints are immutable, with two exceptions. `pack.required` may replace the deprecated `packDomain`. An object of
// an older release without a topology name may get one ("repair").

const nameField = `${path.template}.topologyConstraint.topologyName`

export function validateTopologyOnUpdate(
  set: PodCliqueSet,
  old: PodCliqueSet,
  topologyAwareSchedulingEnabled: boolean,
  cluster: ClusterView,
): TopologyOutcome {
  const warnings = deprecatedDomains(set)
  const repair = repairMode(old)
  if (typeof repair === 'object') return { errors: [repair], warnings }
  const changes = [
    ...changeOfSet(set.spec.template.topologyConstraint, old.spec.template.topologyConstraint, repair),
    ...changesOfCliques(set, old, repair),
    ...changesOfGroups(set, old, repair),
  ]
  if (changes.length > 0 || !repair) return { errors: changes, warnings }
  return {
    errors: validateTopologyOnCreate(set, topologyAwareSchedulingEnabled, cluster).errors,
    warnings,
  }
}

/** Warns about constraints in the notation of older releases. */
export function deprecatedDomains(set: PodCliqueSet): string[] {
  return allConstraints(set)
    .filter(({ constraint }) => constraint.packDomain)
    .map(({ field }) => `${field}.packDomain is deprecated; use ${field}.pack.required instead`)
}

/**
 * Reports whether the stored object may get the topology name that it lacks. Returns an error if it cannot be resolved.
 */
function repairMode(old: PodCliqueSet): boolean | FieldError {
  const constraints = allConstraints(old)
  if (!constraints.some(({ constraint }) => isLegacy(constraint))) return false
  if (constraints.some(({ constraint }) => referencedDomains(constraint).length === 0)) {
    return fieldError.internal(nameField, 'topology constraints require at least one pack domain')
  }
  const { isNameMissing, errors } = resolveTopologyNames(old)
  if (isNameMissing) return true
  if (errors.length === 0) return false
  return fieldError.internal(
    nameField,
    'multiple topology names within a single PodCliqueSet are not supported',
  )
}

function isLegacy(constraint: TopologyConstraint | undefined): boolean {
  return Boolean(constraint?.packDomain && !constraint.topologyName)
}

function changeOfSet(
  now: TopologyConstraint | undefined,
  before: TopologyConstraint | undefined,
  repair: boolean,
): FieldError[] {
  const oldName = before?.topologyName ?? ''
  const newName = now?.topologyName ?? ''
  if (oldName !== newName) {
    if (repair && isRepair(now, before)) return []
    return [
      fieldError.forbidden(
        nameField,
        `topologyName cannot be changed from ${quote(oldName)} to ${quote(newName)}`,
      ),
    ]
  }
  return change(`${path.template}.topologyConstraint`, 'PodCliqueSet', now, before, repair)
}

function changesOfCliques(set: PodCliqueSet, old: PodCliqueSet, repair: boolean): FieldError[] {
  const before = new Map(old.spec.template.cliques.map(clique => [clique.name, clique]))
  return set.spec.template.cliques.flatMap((clique, index) => {
    const counterpart = before.get(clique.name)
    if (!counterpart) return []
    return change(
      `${path.clique(index)}.topologyConstraint`,
      `PodClique '${clique.name}'`,
      clique.topologyConstraint,
      counterpart.topologyConstraint,
      repair,
    )
  })
}

function changesOfGroups(set: PodCliqueSet, old: PodCliqueSet, repair: boolean): FieldError[] {
  const before = new Map((old.spec.template.podCliqueScalingGroups ?? []).map(group => [group.name, group]))
  return (set.spec.template.podCliqueScalingGroups ?? []).flatMap((group, index) => {
    const counterpart = before.get(group.name)
    if (!counterpart) return []
    return change(
      `${path.scalingGroup(index)}.topologyConstraint`,
      `PodCliqueScalingGroup '${group.name}'`,
      group.topologyConstraint,
      counterpart.topologyConstraint,
      repair,
    )
  })
}

function change(
  field: string,
  title: string,
  now: TopologyConstraint | undefined,
  before: TopologyConstraint | undefined,
  repair: boolean,
): FieldError[] {
  if (!isChanged(now, before)) return []
  if (now && before && isMigration(now, before)) return []
  if (repair && isRepair(now, before)) return []
  return [fieldError.forbidden(field, `${title} ${describeChange(now, before)}`)]
}

function isChanged(now: TopologyConstraint | undefined, before: TopologyConstraint | undefined): boolean {
  if (!now || !before) return Boolean(now) !== Boolean(before)
  return (
    (now.topologyName ?? '') !== (before.topologyName ?? '') ||
    (now.packDomain ?? '') !== (before.packDomain ?? '') ||
    requiredDomain(now) !== requiredDomain(before) ||
    preferredDomain(now) !== preferredDomain(before)
  )
}

/** `pack.required` replaces the deprecated field. */
function movesDomain(now: TopologyConstraint, before: TopologyConstraint): boolean {
  return Boolean(before.packDomain && !now.packDomain && now.pack?.required)
}

function isMigration(now: TopologyConstraint, before: TopologyConstraint): boolean {
  return (
    movesDomain(now, before) &&
    (now.topologyName ?? '') === (before.topologyName ?? '') &&
    requiredDomain(now) === before.packDomain &&
    preferredDomain(now) === preferredDomain(before)
  )
}

/** The preferred domain may change along with the name, because the result is validated like a new set. */
function isRepair(now: TopologyConstraint | undefined, before: TopologyConstraint | undefined): boolean {
  return isLegacy(before) && Boolean(now?.topologyName) && now?.packDomain === before?.packDomain
}

function describeChange(now: TopologyConstraint | undefined, before: TopologyConstraint | undefined): string {
  if (!before) return 'topology constraint cannot be added after creation'
  if (!now) return 'topology constraint cannot be removed after creation'
  if ((now.topologyName ?? '') !== (before.topologyName ?? '')) {
    return `topology constraint topologyName cannot be changed from '${before.topologyName ?? ''}' to '${now.topologyName ?? ''}'`
  }
  const domains = (constraint: TopologyConstraint): string =>
    `required=${quote(requiredDomain(constraint))} preferred=${quote(preferredDomain(constraint))}`
  if (movesDomain(now, before)) {
    return `deprecated packDomain migration can only move packDomain to pack.required without changing the required or preferred topology domain (old ${domains(before)}, new ${domains(now)})`
  }
  return `topology constraint cannot be changed from ${domains(before)} to ${domains(now)}`
}
