// SPDX-License-Identifier: Apache-2.0

// Finds replica counts that are too large to apply. It only computes with the templates: the cost depends on the size
// of the manifest, not on the counts.
import type { LimitsConfiguration } from './configuration/index.ts'
import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from './types/index.ts'

export interface ExceededLimit {
  /** The field path of the count. */
  readonly field: string
  readonly value: number
  readonly limit: number
  /** The key below `limits` in the operator configuration. */
  readonly key: keyof LimitsConfiguration
}

export function describeExceededLimit({ field, value, limit, key }: ExceededLimit): string {
  const what = key === 'podsPerPodCliqueSet' ? `${field} requests ${value} pods` : `${field} is ${value}`
  return `${what}, which exceeds the limit of ${limit} (limits.${key} in the operator configuration); existing replicas are kept, and none is created until the count is reduced`
}

/** Counts of a PodCliqueSet above their limits: its own, those of its templates, and their product. */
export function exceededLimits({ spec }: PodCliqueSet, limits: LimitsConfiguration): ExceededLimit[] {
  const replicas = spec.replicas ?? 0
  const counts = [
    ...above('spec.replicas', replicas, limits, 'podCliqueSetReplicas'),
    ...exceededTemplateLimits({ spec }, limits),
  ]
  return counts.length
    ? counts
    : above('spec', replicas * podsOfReplica({ spec }), limits, 'podsPerPodCliqueSet')
}

/** Like `exceededLimits`, without `spec.replicas`: these counts apply to each replica. */
export function exceededTemplateLimits(
  { spec: { template } }: Pick<PodCliqueSet, 'spec'>,
  limits: LimitsConfiguration,
): ExceededLimit[] {
  const at = 'spec.template'
  const counts = [
    ...template.cliques.flatMap(({ spec }, index) =>
      above(`${at}.cliques[${index}].spec.replicas`, spec.replicas, limits, 'podCliqueReplicas'),
    ),
    ...(template.podCliqueScalingGroups ?? []).flatMap((group, index) => {
      const field = `${at}.podCliqueScalingGroups[${index}]`
      return [
        ...above(`${field}.replicas`, group.replicas ?? 1, limits, 'scalingGroupReplicas'),
        ...above(`${field}.minAvailable`, group.minAvailable ?? 1, limits, 'scalingGroupReplicas'),
      ]
    }),
  ]
  if (counts.length) return counts
  return above(at, podsOfReplica({ spec: { template } }), limits, 'podsPerPodCliqueSet')
}

/** Counts of a scaling group above their limits, for a given number of replicas. */
export function exceededGroupLimits(
  set: Pick<PodCliqueSet, 'spec'>,
  group: ScalingGroupTemplate,
  replicas: number,
  limits: LimitsConfiguration,
): ExceededLimit[] {
  const counts = above('spec.replicas', replicas, limits, 'scalingGroupReplicas')
  const pods = replicas * podsOfMembers(group, templatesByName(set))
  return counts.length ? counts : above('spec.replicas', pods, limits, 'podsPerPodCliqueSet')
}

export function exceededCliqueLimits(replicas: number, limits: LimitsConfiguration): ExceededLimit[] {
  return above('spec.replicas', replicas, limits, 'podCliqueReplicas')
}

function above(
  field: string,
  value: number,
  limits: LimitsConfiguration,
  key: keyof LimitsConfiguration,
): ExceededLimit[] {
  return value > limits[key] ? [{ field, value, limit: limits[key], key }] : []
}

function podsOfReplica({ spec }: Pick<PodCliqueSet, 'spec'>): number {
  const templates = templatesByName({ spec })
  const groups = spec.template.podCliqueScalingGroups ?? []
  const members = new Set(groups.flatMap(({ cliqueNames }) => cliqueNames))
  const standalone = spec.template.cliques.filter(({ name }) => !members.has(name))
  return sum([
    ...standalone.map(podsOf),
    ...groups.map(
      group => Math.max(group.replicas ?? 1, group.minAvailable ?? 1) * podsOfMembers(group, templates),
    ),
  ])
}

function podsOfMembers(
  { cliqueNames }: ScalingGroupTemplate,
  templates: ReadonlyMap<string, CliqueTemplate>,
): number {
  return sum(cliqueNames.map(name => podsOf(templates.get(name))))
}

function templatesByName({ spec }: Pick<PodCliqueSet, 'spec'>): ReadonlyMap<string, CliqueTemplate> {
  return new Map(spec.template.cliques.map(template => [template.name, template]))
}

/** A clique without pods counts as one, because its PodClique exists. */
function podsOf(template: CliqueTemplate | undefined): number {
  return Math.max(1, template?.spec.replicas ?? 1)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
