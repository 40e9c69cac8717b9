// SPDX-License-Identifier: Apache-2.0

// Warnings about settings that are accepted for compatibility and have no effect, with what to do instead.
import { names } from '../../names.ts'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'
import { groupsOfMembers } from './group-members.ts'
import { path } from './paths.ts'

/** More than these most likely have the same cause. */
const mostWarnings = 5

/** `startsAfter` is read only with explicit startup. */
export function startupOrderWarnings({ spec: { template } }: PodCliqueSet): string[] {
  if (template.cliqueStartupType === 'CliqueStartupTypeExplicit') return []
  return template.cliques
    .flatMap(({ spec }, index) =>
      spec.startsAfter?.length
        ? [
            `${path.clique(index)}.spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit`,
          ]
        : [],
    )
    .slice(0, mostWarnings)
}

/**
 * Counts in the template are initial values, also for a set that is stored: users and autoscalers own the counts of
 * existing objects (docs/decisions/0017-counts-in-the-template-are-initial.md).
 */
export function initialCountWarnings(set: PodCliqueSet, old: PodCliqueSet): string[] {
  const existing = Math.min(set.spec.replicas ?? 0, old.spec.replicas ?? 0)
  if (existing === 0) return []
  const { cliques, podCliqueScalingGroups: groups = [] } = set.spec.template
  const members = groupsOfMembers(set.spec.template)
  const cliquesBefore = new Map(old.spec.template.cliques.map(clique => [clique.name, clique.spec.replicas]))
  const groupsBefore = new Map(
    (old.spec.template.podCliqueScalingGroups ?? []).map(group => [group.name, group.replicas ?? 1]),
  )
  const isChanged = (before: number | undefined, after: number) => before !== undefined && before !== after
  return [
    ...cliques.flatMap((clique, index) => {
      const { name, spec } = clique
      if (!isChanged(cliquesBefore.get(name), spec.replicas)) return []
      const group = members.get(name)
      const field = `${path.clique(index)}.spec.replicas`
      return [group ? ofMember(field, group) : ofClique(field, clique, set, existing)]
    }),
    ...groups.flatMap((group, index) =>
      isChanged(groupsBefore.get(group.name), group.replicas ?? 1)
        ? [ofGroup(`${path.scalingGroup(index)}.replicas`, group, set, existing)]
        : [],
    ),
  ].slice(0, mostWarnings)
}

function ofMember(field: string, { name }: ScalingGroupTemplate): string {
  return `${field}: applies only to replicas of scaling group ${name} that are created from now on`
}

function ofClique(
  field: string,
  { name, spec }: CliqueTemplate,
  set: PodCliqueSet,
  existing: number,
): string {
  const clique = names.standaloneClique(set.metadata.name ?? '', 0, name)
  return spec.autoScalingConfig
    ? ofAutoscaler(field, 'PodCliques', clique)
    : toScale(field, 'PodCliques', `pclq/${clique}`, spec.replicas, set, existing)
}

function ofGroup(field: string, group: ScalingGroupTemplate, set: PodCliqueSet, existing: number): string {
  const name = names.scalingGroup(set.metadata.name ?? '', 0, group.name)
  const kind = 'PodCliqueScalingGroups'
  return group.scaleConfig
    ? ofAutoscaler(field, kind, name)
    : toScale(field, kind, `pcsg/${name}`, group.replicas ?? 1, set, existing)
}

function ofAutoscaler(field: string, kind: string, name: string): string {
  return `${field}: has no effect on existing ${kind}; HorizontalPodAutoscaler ${name} scales them`
}

function toScale(
  field: string,
  kind: string,
  object: string,
  replicas: number,
  { metadata: { namespace } }: PodCliqueSet,
  existing: number,
): string {
  const others = existing > 1 ? ', and the same for the other replicas of the set' : ''
  return `${field}: has no effect on existing ${kind}; scale them: kubectl -n ${namespace ?? 'default'} scale ${object} --replicas=${replicas}${others}`
}
