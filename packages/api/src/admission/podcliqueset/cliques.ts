// SPDX-License-Identifier: Apache-2.0

import {
  dns1123Subdomain,
  type FieldError,
  fieldError,
  isBlank,
  validateAnnotations,
  validateLabels,
} from '@grove/apimachinery'
import type { CliqueTemplate, PodCliqueSet } from '../../types/index.ts'
import { validateCliqueAutoscaling } from './autoscaling.ts'
import { type MeasuredName, measured, nameBudgetOfStandaloneClique } from './name-budget.ts'
import { path } from './paths.ts'
import { validateEnvironment, validatePodPlacement } from './pod-spec.ts'
import { repeatedNames } from './repeated-names.ts'
import { validateSharingList } from './resource-sharing.ts'
import { validateSchedulerNames } from './scheduler-name.ts'
import { validateDependencyGraph, validateStartsAfter } from './startup-dependencies.ts'

export interface CliqueRules {
  readonly enabledSchedulers: ReadonlySet<string>
  readonly defaultScheduler: string
  /** Names of the claim templates in the set itself. */
  readonly internalTemplates: ReadonlySet<string>
  /** On update: the stored object. */
  readonly old: PodCliqueSet | undefined
}

/** Validates every clique, then the rules that involve several cliques. */
export function validateCliques(set: PodCliqueSet, rules: CliqueRules): FieldError[] {
  const { cliques, cliqueStartupType, podCliqueScalingGroups = [] } = set.spec.template
  if (cliques.length === 0) {
    return [fieldError.required(path.cliques, 'at least one PodClique must be defined')]
  }
  const explicit = cliqueStartupType === 'CliqueStartupTypeExplicit'
  const members = new Set(podCliqueScalingGroups.flatMap(group => group.cliqueNames))
  const nameOfSet = measured(set.metadata.name)
  const before = new Map(rules.old?.spec.template.cliques.map(clique => [clique.name, clique]))

  const errors = cliques.flatMap((clique, index) => {
    const field = path.clique(index)
    return [
      ...validateName(nameOfSet, clique, index, members.has(clique.name)),
      ...(clique.labels ? validateLabels(clique.labels, `${field}.labels`) : []),
      ...(clique.annotations ? validateAnnotations(clique.annotations, `${field}.annotations`) : []),
      ...validateSharingList(clique.resourceSharing, `${field}.resourceSharing`, rules.internalTemplates),
      ...validateReplicas(clique, field),
      ...(explicit ? validateStartsAfter(clique, index) : []),
      ...validateCliqueAutoscaling(clique, index),
      ...validatePodPlacement(clique, index, before.get(clique.name)),
      ...validateEnvironment(clique, index),
    ]
  })
  const names = cliques.map(clique => clique.name)
  const roleNames = cliques.map(clique => clique.spec.roleName)
  return [
    ...errors,
    ...repeated(`${path.cliques}.name`, names),
    ...repeated(`${path.cliques}.roleName`, roleNames),
    ...validateSchedulerNames(cliques, rules.enabledSchedulers, rules.defaultScheduler),
    ...(explicit ? validateDependencyGraph(cliques) : []),
  ]
}

function validateName(
  set: MeasuredName,
  { name }: CliqueTemplate,
  index: number,
  member: boolean,
): FieldError[] {
  const field = `${path.clique(index)}.name`
  if (isBlank(name)) return [fieldError.required(field, 'field cannot be empty')]
  const errors: FieldError[] = []
  if (dns1123Subdomain(name).length > 0) {
    errors.push(
      fieldError.invalid(field, name, 'invalid PodCliqueTemplateSpec name, must be a valid DNS subdomain'),
    )
  }
  return member ? errors : [...errors, ...nameBudgetOfStandaloneClique(set, name, field)]
}

function validateReplicas({ spec }: CliqueTemplate, field: string): FieldError[] {
  const { replicas, minAvailable } = spec
  const errors: FieldError[] = []
  if (replicas <= 0) {
    errors.push(fieldError.invalid(`${field}.spec.replicas`, replicas, 'must be greater than 0'))
  }
  const minField = `${field}.spec.minAvailable`
  if (minAvailable === undefined) {
    errors.push(fieldError.required(minField, 'field is required'))
  } else {
    if (minAvailable <= 0) errors.push(fieldError.invalid(minField, minAvailable, 'must be greater than 0'))
    if (minAvailable > replicas) {
      errors.push(
        fieldError.invalid(minField, minAvailable, 'minAvailable must not be greater than replicas'),
      )
    }
  }
  return errors
}

function repeated(field: string, names: readonly string[]): FieldError[] {
  const found = repeatedNames(names)
  return found.length > 0 ? [fieldError.duplicate(field, found)] : []
}
