// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError, validateAnnotations } from '@grove/apimachinery'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { validateMetrics } from './autoscaler-metrics.ts'
import { collidingClaims, impossibleClaims } from './claim-names.ts'
import { clashingNames } from './clashing-names.ts'
import { path } from './paths.ts'
import { reservedNames } from './reserved-names.ts'

/**
 * Finds child objects that the API server would reject. New sets with such mistakes are rejected. Stored sets get a
 * warning, because admission accepted them before.
 */
export function foreseeableFailures(set: PodCliqueSet): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = set.spec.template
  return [
    ...clashingNames(set),
    ...cliques.flatMap((clique, index) => failuresOfClique(clique, path.clique(index))),
    ...groups.flatMap((group, index) => failuresOfGroup(group, path.scalingGroup(index))),
    ...reservedNames(set),
    ...impossibleClaims(set),
    ...collidingClaims(set),
  ]
}

function failuresOfClique({ spec }: CliqueTemplate, field: string): FieldError[] {
  const { podSpec, autoScalingConfig } = spec
  const podField = `${field}.spec.podSpec`
  const errors: FieldError[] = []
  if (podSpec.containers.length === 0) {
    errors.push(fieldError.required(`${podField}.containers`, 'at least one container must be defined'))
  }
  for (const list of ['containers', 'initContainers'] as const) {
    podSpec[list]?.forEach(({ name }, index) => {
      // An empty name is accepted for compatibility.
      const problems = name === '' ? [] : dns1123Label(name)
      if (problems.length > 0) {
        errors.push(fieldError.invalid(`${podField}.${list}[${index}].name`, name, problems.join('; ')))
      }
    })
  }
  return [
    ...errors,
    ...validateMetrics(autoScalingConfig?.metrics, `${field}.spec.autoScalingConfig.metrics`),
  ]
}

function failuresOfGroup(group: ScalingGroupTemplate, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (group.cliqueNames.length === 0) {
    errors.push(fieldError.required(`${field}.cliqueNames`, 'at least one PodClique must be a member'))
  }
  return [
    ...errors,
    ...validateAnnotations(group.annotations ?? {}, `${field}.annotations`),
    ...failuresOfBounds(group, `${field}.scaleConfig`),
    ...validateMetrics(group.scaleConfig?.metrics, `${field}.scaleConfig.metrics`),
  ]
}

function failuresOfBounds({ replicas, scaleConfig }: ScalingGroupTemplate, field: string): FieldError[] {
  if (!scaleConfig) return []
  const { minReplicas, maxReplicas } = scaleConfig
  const invalid = (problem: string) => [fieldError.invalid(`${field}.maxReplicas`, maxReplicas, problem)]
  if (maxReplicas <= 0) return invalid('must be greater than 0')
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    return invalid('must be greater than or equal to scaleConfig.minReplicas')
  if (replicas !== undefined && maxReplicas < replicas)
    return invalid('must be greater than or equal to replicas')
  return []
}
