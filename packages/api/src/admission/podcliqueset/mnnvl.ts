// SPDX-License-Identifier: Apache-2.0

import {
  dns1123Label,
  type FieldError,
  fieldError,
  QuantityError,
  quote,
  readQuantity,
} from '@grove/apimachinery'
import { annotation, mnnvlGroupNone } from '../../annotations.ts'
import type { CliqueTemplate, PodCliqueSet } from '../../types/index.ts'
import { path } from './paths.ts'

const key = annotation.mnnvlGroup

interface Carrier {
  readonly field: string
  readonly group: string | undefined
}

type Annotations = Readonly<Record<string, string>> | undefined

function carrier(field: string, annotations: Annotations): Carrier {
  return { field: `${field}.annotations.${key}`, group: annotations?.[key] }
}

/** All parts that can have the annotation: the set itself, its cliques, its scaling groups. */
function carriers(set: PodCliqueSet): Carrier[] {
  const { cliques, podCliqueScalingGroups = [] } = set.spec.template
  return [
    carrier('metadata', set.metadata.annotations),
    ...cliques.map((clique, index) => carrier(path.clique(index), clique.annotations)),
    ...podCliqueScalingGroups.map((group, index) => carrier(path.scalingGroup(index), group.annotations)),
  ]
}

export function validateMnnvlOnCreate(set: PodCliqueSet, mnnvlEnabled: boolean): FieldError[] {
  const errors: FieldError[] = []
  for (const { field, group } of carriers(set)) {
    if (group === undefined || group === mnnvlGroupNone) continue
    if (group === '') {
      errors.push(fieldError.invalid(field, group, 'mnnvl-group value must not be empty'))
    } else {
      const problems = dns1123Label(group)
      if (problems.length > 0) {
        errors.push(
          fieldError.invalid(
            field,
            group,
            `mnnvl-group value ${quote(group)} is not a valid DNS-1123 label: ${problems.join(', ')}`,
          ),
        )
      }
    }
    if (!mnnvlEnabled) {
      errors.push(
        fieldError.invalid(
          field,
          group,
          `MNNVL is not enabled in the operator configuration. Either enable MNNVL globally or remove the ${key} annotation`,
        ),
      )
    }
  }
  return errors
}

/**
 * The group determines which pods share an NVLink domain, so it is immutable. Cliques and groups are paired by name.
 */
export function validateMnnvlOnUpdate(set: PodCliqueSet, old: PodCliqueSet): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = set.spec.template
  const oldCliques = new Map(old.spec.template.cliques.map(clique => [clique.name, clique]))
  const oldGroups = new Map(
    (old.spec.template.podCliqueScalingGroups ?? []).map(group => [group.name, group]),
  )
  return [
    ...compare(carrier('metadata', set.metadata.annotations), old.metadata.annotations),
    ...cliques.flatMap((clique, index) => {
      const before = oldCliques.get(clique.name)
      return before ? compare(carrier(path.clique(index), clique.annotations), before.annotations) : []
    }),
    ...groups.flatMap((group, index) => {
      const before = oldGroups.get(group.name)
      return before ? compare(carrier(path.scalingGroup(index), group.annotations), before.annotations) : []
    }),
  ]
}

function compare({ field, group }: Carrier, oldAnnotations: Annotations): FieldError[] {
  const before = oldAnnotations?.[key]
  if (group === before) return []
  if (before === undefined) {
    return [fieldError.forbidden(field, `annotation ${key} cannot be added after creation`)]
  }
  if (group === undefined) {
    return [fieldError.forbidden(field, `annotation ${key} cannot be removed after creation`)]
  }
  return [
    fieldError.invalid(
      field,
      group,
      `annotation ${key} is immutable and cannot be changed from ${quote(before)} to ${quote(group)}`,
    ),
  ]
}

const gpuResource = 'nvidia.com/gpu'

/** Warns about a clique that sets its own group but has no GPU. It is accepted, but most likely a mistake. */
export function mnnvlWarnings(set: PodCliqueSet): string[] {
  return set.spec.template.cliques.flatMap((clique, index) => {
    const { field, group } = carrier(path.clique(index), clique.annotations)
    if (group === undefined || group === mnnvlGroupNone || usesGpu(clique)) return []
    return [`${field} has no effect: no container of clique ${quote(clique.name)} requests ${gpuResource}`]
  })
}

export function usesGpu({ spec: { podSpec } }: CliqueTemplate): boolean {
  return [...podSpec.containers, ...(podSpec.initContainers ?? [])].some(({ resources }) =>
    [resources?.limits, resources?.requests].some(list => isPositive(list?.[gpuResource])),
  )
}

function isPositive(amount: unknown): boolean {
  const quantity = readQuantity(amount)
  return !(quantity instanceof QuantityError) && quantity.unscaled > 0n
}
