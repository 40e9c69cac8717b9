// SPDX-License-Identifier: Apache-2.0

import {
  type ComparisonPath,
  equalQuantities,
  type FieldError,
  fieldError,
  QuantityError,
  readQuantity,
  semanticallyEqual,
} from '@grove/apimachinery'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { path } from './paths.ts'

// Fields that define the shape of a gang are immutable. Cliques and scaling groups are paired by name. Most paths have
// no index, so the same error of several cliques is reported once.

/** Rejects added, removed and renamed cliques, and changes of fields that define their gangs. */
export function validateCliqueComposition(set: PodCliqueSet, old: PodCliqueSet): FieldError[] {
  const { cliques, cliqueStartupType } = set.spec.template
  const oldCliques = old.spec.template.cliques
  const before = new Map(oldCliques.map((clique, index) => [clique.name, { clique, index }]))
  const ordered =
    cliqueStartupType === 'CliqueStartupTypeInOrder' || cliqueStartupType === 'CliqueStartupTypeExplicit'
  const perClique = cliques.flatMap((clique, index) => {
    const counterpart = before.get(clique.name)
    if (!counterpart) {
      return [
        fieldError.forbidden(
          `${path.cliques}.name`,
          `not allowed to change clique composition, new clique name '${clique.name}' is not allowed`,
        ),
      ]
    }
    const moved = ordered && counterpart.index !== index
    return [
      ...(moved ? [movedClique(clique.name, index, oldCliques[index]?.name)] : []),
      ...changedFields(clique, counterpart.clique, index),
    ]
  })
  if (cliques.length === oldCliques.length) return perClique
  return [fieldError.forbidden(path.cliques, 'not allowed to change clique composition'), ...perClique]
}

function movedClique(name: string, index: number, expected: string | undefined): FieldError {
  return fieldError.invalid(
    path.cliques,
    name,
    `clique order cannot be changed when StartupType is InOrder or Explicit. Expected '${expected ?? ''}' at position ${index}, got '${name}'`,
  )
}

function changedFields(clique: CliqueTemplate, old: CliqueTemplate, index: number): FieldError[] {
  const field = `${path.cliques}.spec`
  const { roleName, minAvailable, startsAfter, podSpec } = clique.spec
  return [
    ...immutable(`${field}.roleName`, roleName, old.spec.roleName),
    ...immutable(`${field}.minAvailable`, minAvailable, old.spec.minAvailable),
    ...immutable(`${field}.startsAfter`, startsAfter, old.spec.startsAfter),
    ...immutable(
      `${field}.podSpec.schedulerName`,
      podSpec.schedulerName ?? '',
      old.spec.podSpec.schedulerName ?? '',
    ),
    ...immutable(`${path.clique(index)}.resourceSharing`, clique.resourceSharing, old.resourceSharing),
  ]
}

export function validateStartupType(set: PodCliqueSet, old: PodCliqueSet): FieldError[] {
  return immutable(
    `${path.template}.cliqueStartupType`,
    set.spec.template.cliqueStartupType,
    old.spec.template.cliqueStartupType,
  )
}

export function validateScalingGroupComposition(set: PodCliqueSet, old: PodCliqueSet): FieldError[] {
  const groups = set.spec.template.podCliqueScalingGroups ?? []
  const oldGroups = old.spec.template.podCliqueScalingGroups ?? []
  if (groups.length !== oldGroups.length) {
    return [
      fieldError.forbidden(path.scalingGroups, 'not allowed to add or remove PodCliqueScalingGroupConfigs'),
    ]
  }
  const before = new Map(oldGroups.map(group => [group.name, group]))
  return groups.flatMap(group => {
    const counterpart = before.get(group.name)
    return counterpart ? changedGroupFields(group, counterpart) : [newGroup(group.name)]
  })
}

function newGroup(name: string): FieldError {
  return fieldError.forbidden(
    `${path.scalingGroups}.name`,
    `not allowed to change scaling group composition, new scaling group name '${name}' is not allowed`,
  )
}

function changedGroupFields(group: ScalingGroupTemplate, old: ScalingGroupTemplate): FieldError[] {
  const field = path.scalingGroups
  return [
    ...immutable(`${field}.cliqueNames`, group.cliqueNames, old.cliqueNames),
    ...immutable(`${field}.minAvailable`, group.minAvailable, old.minAvailable),
    ...immutable(`${field}.resourceSharing`, group.resourceSharing, old.resourceSharing),
  ]
}

/** Claims are created once from these fields. A later change would not affect running pods. */
export function validateClaims(set: PodCliqueSet, old: PodCliqueSet): FieldError[] {
  const { resourceClaimTemplates, resourceSharing } = set.spec.template
  const before = old.spec.template
  return [
    ...immutable(
      `${path.template}.resourceClaimTemplates`,
      resourceClaimTemplates,
      before.resourceClaimTemplates,
    ),
    ...immutable(`${path.template}.resourceSharing`, resourceSharing, before.resourceSharing),
  ]
}

function immutable(field: string, value: unknown, old: unknown): FieldError[] {
  return semanticallyEqual(value, old, sameAmount) ? [] : [fieldError.immutable(field, value)]
}

/** Device capacities are quantities: `1Gi` and `1024Mi` are equal. */
function sameAmount(value: unknown, old: unknown, at: ComparisonPath): boolean | undefined {
  if (at.at(-2) !== 'requests' || at.at(-3) !== 'capacity') return undefined
  const left = readQuantity(value)
  const right = readQuantity(old)
  if (left instanceof QuantityError || right instanceof QuantityError) return undefined
  return equalQuantities(left, right)
}
