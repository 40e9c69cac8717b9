// SPDX-License-Identifier: Apache-2.0

// Names that are reserved for the operator, or that would be invalid for its objects.
import { dns1123Label, type FieldError, fieldError, quote } from '@grove/apimachinery'
import { annotation, mnnvlGroupNone } from '../../annotations.ts'
import { mnnvlClaimName, waiter } from '../../environment.ts'
import { names } from '../../names.ts'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { groupsOfMembers } from './group-members.ts'
import { usesGpu } from './mnnvl.ts'
import { path } from './paths.ts'
import { quotable } from './quotable.ts'

/** Names become host names, Services and label values, which are all DNS labels. */
const labelLimit = 63
/** A set with more replicas has longer indexes, which leave less room for its names. */
const thousandReplicas = 999

export function reservedNames(set: PodCliqueSet): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [], cliqueStartupType } = set.spec.template
  const isOrdered = cliqueStartupType !== 'CliqueStartupTypeAnyOrder'
  const groupOf = groupsOfMembers(set.spec.template)
  return [
    ...nameOfSet(set.metadata.name),
    ...cliques.flatMap(({ name }, index) => withoutDots(`${path.clique(index)}.name`, name)),
    ...groups.flatMap(({ name }, index) => withoutDots(`${path.scalingGroup(index)}.name`, name)),
    ...cliques.flatMap((clique, index) => [
      ...(isOrdered ? waiterNames(clique, `${path.clique(index)}.spec.podSpec`) : []),
      ...mnnvlNames(set, clique, index, groupOf.get(clique.name)),
    ]),
  ]
}

function nameOfSet(name: string): FieldError[] {
  const field = 'metadata.name'
  if (name === 'default')
    return [
      fieldError.invalid(
        field,
        name,
        'a ServiceAccount of this name exists in every namespace, and the PodCliqueSet needs one of its own',
      ),
    ]
  return withoutDots(field, name)
}

function withoutDots(field: string, name: string): FieldError[] {
  if (!name.includes('.')) return []
  return dns1123Label(name).map(problem => fieldError.invalid(field, name, problem))
}

function waiterNames({ spec: { podSpec } }: CliqueTemplate, field: string): FieldError[] {
  const reserved = (list: 'containers' | 'initContainers' | 'volumes', own: readonly string[]) =>
    (podSpec[list] ?? []).flatMap(({ name }, index) =>
      own.includes(name)
        ? [
            fieldError.invalid(
              `${field}.${list}[${index}].name`,
              name,
              'is reserved for the startup order of PodCliques',
            ),
          ]
        : [],
    )
  return [
    ...reserved('initContainers', [waiter.containerName]),
    ...reserved('containers', [waiter.containerName]),
    ...reserved('volumes', [waiter.tokenVolume, waiter.podInfoVolume]),
  ]
}

function mnnvlNames(
  set: PodCliqueSet,
  clique: CliqueTemplate,
  index: number,
  scalingGroup: ScalingGroupTemplate | undefined,
): FieldError[] {
  const group = mnnvlGroupOf(set, clique, scalingGroup)
  if (group === undefined || !usesGpu(clique)) return []
  const { resourceClaims = [] } = clique.spec.podSpec
  const domain = names.computeDomain(
    set.metadata.name,
    Math.max(thousandReplicas, (set.spec.replicas ?? 0) + (set.spec.updateStrategy?.maxSurge ?? 0)),
    quotable(group),
  )
  return [
    ...resourceClaims.flatMap(({ name }, claim) =>
      name === mnnvlClaimName
        ? [
            fieldError.invalid(
              `${path.clique(index)}.spec.podSpec.resourceClaims[${claim}].name`,
              name,
              'is reserved for the NVLink domain that the PodClique joins',
            ),
          ]
        : [],
    ),
    ...(domain.length > labelLimit
      ? [
          fieldError.invalid(
            `${path.clique(index)}.name`,
            clique.name,
            `its NVLink domain would have the name ${quote(domain)}, which is longer than ${labelLimit} characters; shorten the name of the group or of the PodCliqueSet`,
          ),
        ]
      : []),
  ]
}

function mnnvlGroupOf(
  { metadata }: PodCliqueSet,
  clique: CliqueTemplate,
  group: ScalingGroupTemplate | undefined,
) {
  const layers = [clique.annotations, group?.annotations, metadata.annotations]
  const value = layers.map(layer => layer?.[annotation.mnnvlGroup]).find(found => found !== undefined)
  return value === mnnvlGroupNone ? undefined : value
}
