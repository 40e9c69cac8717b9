// SPDX-License-Identifier: Apache-2.0

// Names are joined by hyphens and may contain hyphens, so different parts of a set can produce the same object name.
import { type FieldError, fieldError } from '@grove/apimachinery'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { groupsOfMembers } from './group-members.ts'
import { anyIndex, earlierTwins, type NamePattern, namePattern } from './name-patterns.ts'
import { path } from './paths.ts'

/** Reports parts of a set whose objects would have the same name. The error is on the later one. */
export function clashingNames({ spec: { template } }: PodCliqueSet): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const members = groupsOfMembers(template)
  const standalone = cliques.filter(({ name }) => !members.has(name))
  const autoscaled = new Set(standalone.filter(({ spec }) => spec.autoScalingConfig).map(({ name }) => name))
  const clashes = clashingGroups(standalone, groups)
  return groups.flatMap((group, index) => {
    const field = `${path.scalingGroup(index)}.name`
    const clash = clashes.get(group)
    return [
      ...(group.scaleConfig && autoscaled.has(group.name)
        ? [
            fieldError.invalid(
              field,
              group.name,
              `its autoscaler has the same name as that of PodClique ${group.name}`,
            ),
          ]
        : []),
      ...(clash === undefined
        ? []
        : [
            fieldError.invalid(
              field,
              group.name,
              `its PodCliques would have the same names as those of ${clash}`,
            ),
          ]),
    ]
  })
}

/**
 * The groups with a member whose PodClique can have the name of another one, with the first clique or group of that
 * name.
 */
function clashingGroups(
  standalone: readonly CliqueTemplate[],
  groups: readonly ScalingGroupTemplate[],
): Map<ScalingGroupTemplate, string> {
  const named: { owner: CliqueTemplate | ScalingGroupTemplate; pattern: NamePattern }[] = [
    ...standalone.map(clique => ({ owner: clique, pattern: namePattern(clique.name) })),
    ...groups.flatMap(group =>
      group.cliqueNames.map(member => ({ owner: group, pattern: namePattern(group.name, anyIndex, member) })),
    ),
  ]
  const twins = earlierTwins(named.map(({ pattern }) => pattern))
  const first = new Map<unknown, number>()
  twins.forEach((twin, position) => {
    const { owner } = named[position]!
    if (twin === undefined || named[twin]!.owner === owner) return
    first.set(owner, Math.min(twin, first.get(owner) ?? twin))
  })
  return new Map(
    groups.flatMap(group => {
      const twin = first.get(group)
      return twin === undefined ? [] : [[group, named[twin]!.owner.name] as const]
    }),
  )
}
