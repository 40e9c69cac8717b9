// SPDX-License-Identifier: Apache-2.0

import { dns1123Subdomain, type FieldError, fieldError } from '@grove/apimachinery'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { type MeasuredName, measured, nameBudgetOfMember } from './name-budget.ts'
import { path } from './paths.ts'
import { repeatedNames } from './repeated-names.ts'
import { validateGroupSharing } from './resource-sharing.ts'

/** Validates every scaling group, then the rules that involve several groups and their members. */
export function validateScalingGroups(
  set: PodCliqueSet,
  internalTemplates: ReadonlySet<string>,
): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = set.spec.template
  if (groups.length === 0) return []
  const nameOfSet = measured(set.metadata.name)
  const known = new Map(cliques.map(clique => [clique.name, clique]))
  const errors = groups.flatMap((group, index) => {
    const field = path.scalingGroup(index)
    return [
      ...validateName(group, field),
      ...validateMembers(nameOfSet, group, field, known),
      ...validateReplicas(group, field),
      ...validateGroupSharing(
        group.resourceSharing,
        `${field}.resourceSharing`,
        new Set(group.cliqueNames),
        internalTemplates,
      ),
    ]
  })
  const repeatedGroups = repeatedNames(groups.map(group => group.name))
  if (repeatedGroups.length > 0) {
    errors.push(fieldError.duplicate(`${path.scalingGroups}.name`, repeatedGroups))
  }
  const members = groups.flatMap(group => group.cliqueNames)
  const repeatedMembers = repeatedNames(members)
  if (repeatedMembers.length > 0) {
    errors.push(fieldError.duplicate(`${path.scalingGroups}.cliqueNames`, repeatedMembers))
  }
  for (const name of members) {
    if (!known.get(name)?.spec.autoScalingConfig) continue
    errors.push(
      fieldError.invalid(
        path.scalingGroups,
        name,
        'AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group',
      ),
    )
  }
  return errors
}

function validateName({ name }: ScalingGroupTemplate, field: string): FieldError[] {
  if (dns1123Subdomain(name).length === 0) return []
  return [
    fieldError.invalid(
      `${field}.name`,
      name,
      'invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain',
    ),
  ]
}

function validateMembers(
  set: MeasuredName,
  { name, cliqueNames }: ScalingGroupTemplate,
  field: string,
  known: ReadonlyMap<string, CliqueTemplate>,
): FieldError[] {
  const errors: FieldError[] = []
  const unknown = new Set(cliqueNames.filter(member => !known.has(member)))
  if (unknown.size > 0) {
    errors.push(
      fieldError.invalid(
        `${field}.cliqueNames`,
        [...unknown].join(','),
        'unidentified PodClique names found',
      ),
    )
  }
  const group = measured(name)
  const budget = cliqueNames.flatMap((member, index) => nameBudgetOfMember(set, group, member, field, index))
  return [...errors, ...budget]
}

function validateReplicas(
  { replicas, minAvailable, scaleConfig }: ScalingGroupTemplate,
  field: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (replicas !== undefined && replicas <= 0) {
    errors.push(fieldError.invalid(`${field}.replicas`, replicas, 'must be greater than 0'))
  }
  if (minAvailable === undefined) return errors
  if (minAvailable <= 0) {
    errors.push(fieldError.invalid(`${field}.minAvailable`, minAvailable, 'must be greater than 0'))
  }
  if (replicas !== undefined && minAvailable > replicas) {
    errors.push(
      fieldError.invalid(
        `${field}.minAvailable`,
        minAvailable,
        'minAvailable must not be greater than replicas',
      ),
    )
  }
  const minReplicas = scaleConfig?.minReplicas
  if (minReplicas !== undefined && minReplicas < minAvailable) {
    errors.push(
      fieldError.invalid(
        `${field}.scaleConfig.minReplicas`,
        minReplicas,
        'scaleConfig.minReplicas must be greater than or equal to minAvailable',
      ),
    )
  }
  return errors
}
