// SPDX-License-Identifier: Apache-2.0

// Names are joined by hyphens, which they may also contain: different parts of a set can ask for the same name.
import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { path } from './paths.ts'

/** Parts of a set whose objects would have the same name; the later one is named. */
export function clashingNames({ spec: { template } }: PodCliqueSet): FieldError[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const members = new Set(groups.flatMap(({ cliqueNames }) => cliqueNames))
  const standalone = cliques.filter(({ name }) => !members.has(name))
  return groups.flatMap((group, index) => {
    const field = `${path.scalingGroup(index)}.name`
    const twin = standalone.find(({ name }) => name === group.name)
    const autoscalers = twin?.spec.autoScalingConfig && group.scaleConfig
    const clash =
      standalone.find(({ name }) => isMemberName(name, group))?.name ??
      groups.slice(0, index).find(other => sharesMember(group, other) || sharesMember(other, group))?.name
    return [
      ...(autoscalers
        ? [
            fieldError.invalid(
              field,
              group.name,
              `its autoscaler has the name of that of PodClique ${group.name}`,
            ),
          ]
        : []),
      ...(clash === undefined
        ? []
        : [
            fieldError.invalid(field, group.name, `its PodCliques would have the names of those of ${clash}`),
          ]),
    ]
  })
}

/** Whether a name is what some replica of the group calls one of its members. */
function isMemberName(name: string, { name: group, cliqueNames }: ScalingGroupTemplate): boolean {
  return cliqueNames.some(member => hasIndexBetween(name, `${group}-`, `-${member}`))
}

/** Whether a member of one group can have the name of a member of another, whose own name is longer. */
function sharesMember(short: ScalingGroupTemplate, long: ScalingGroupTemplate): boolean {
  if (!long.name.startsWith(`${short.name}-`)) return false
  const afterIndex = /^(?:0|[1-9]\d*)(?:-(.+))?$/.exec(long.name.slice(short.name.length + 1))
  if (!afterIndex) return false
  const begin = afterIndex[1] === undefined ? '' : `${afterIndex[1]}-`
  return short.cliqueNames.some(name => long.cliqueNames.some(end => hasIndexBetween(name, begin, `-${end}`)))
}

function hasIndexBetween(name: string, begin: string, end: string): boolean {
  if (!name.startsWith(begin) || !name.endsWith(end)) return false
  return /^(?:0|[1-9]\d*)$/.test(name.slice(begin.length, name.length - end.length))
}
