// SPDX-License-Identifier: Apache-2.0

import { environmentVariableName, type FieldError, fieldError, isBlank, trimSpace } from '@grove/apimachinery'
import type { Container } from '../../kubernetes/index.ts'
import type { CliqueTemplate, PodCliqueSet } from '../../types/index.ts'
import { path } from './paths.ts'
import { repeatedNames } from './repeated-names.ts'

/** The second `spec` is not a field of the API. It is kept because users and tools match errors with this path. */
function fieldOf(index: number): string {
  return `${path.clique(index)}.spec.podSpec.spec`
}

/**
 * Gangs and topology constraints choose the nodes, so a clique may not. Fields that the stored object `old` has may
 * stay.
 */
export function validatePodPlacement(
  clique: CliqueTemplate,
  index: number,
  old: CliqueTemplate | undefined,
): FieldError[] {
  const errors: FieldError[] = []
  const { topologySpreadConstraints, nodeName } = clique.spec.podSpec
  const before = old?.spec.podSpec
  if (topologySpreadConstraints && !before?.topologySpreadConstraints) {
    errors.push(
      fieldError.invalid(
        `${fieldOf(index)}.topologySpreadConstraints`,
        topologySpreadConstraints,
        'must not be set',
      ),
    )
  }
  if (!isBlank(nodeName) && isBlank(before?.nodeName)) {
    errors.push(fieldError.invalid(`${fieldOf(index)}.nodeName`, nodeName, 'must not be set'))
  }
  return errors
}

/** Kubernetes validates these too, but only when a pod is created, and the user would not see that error. */
export function validateEnvironment(clique: CliqueTemplate, index: number): FieldError[] {
  const { containers, initContainers = [] } = clique.spec.podSpec
  const field = fieldOf(index)
  return [
    ...containers.flatMap((container, k) => environmentErrors(container, `${field}.containers[${k}].env`)),
    ...initContainers.flatMap((container, k) =>
      environmentErrors(container, `${field}.initContainers[${k}].env`),
    ),
  ]
}

function environmentErrors({ env }: Container, field: string): FieldError[] {
  if (!env || env.length === 0) return []
  const errors: FieldError[] = []
  env.forEach(({ name }, index) => {
    const problems = environmentVariableName(name)
    if (problems.length > 0) {
      errors.push(fieldError.invalid(`${field}[${index}].name`, name, problems.join('; ')))
    }
  })
  const repeated = repeatedNames(env.map(({ name }) => name))
  if (repeated.length > 0) errors.push(fieldError.duplicate(field, repeated))
  return errors
}

/** Defaulting replaces a blank policy by `Always`, so only an explicit other policy causes a warning. */
export function restartPolicyWarnings(set: PodCliqueSet): string[] {
  const ignored = set.spec.template.cliques.some(({ spec: { podSpec } }) => {
    const policy = trimSpace(podSpec.restartPolicy ?? '')
    return policy !== '' && policy !== 'Always'
  })
  return ignored ? ['restartPolicy will be ignored, it will be set to Always'] : []
}
