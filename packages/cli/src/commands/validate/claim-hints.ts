// SPDX-License-Identifier: Apache-2.0

// Hints about shared device claims. Admission accepts these, because only the cluster can decide: a template may be
// created later, and Kubernetes counts the consumers of a claim at allocation.
import type { CliqueOrScalingGroupFilter, PodCliqueSet, ResourceSharing } from '@grove/api'

export interface Hint {
  readonly field: string
  readonly text: string
}

/** Maximum number of consumers of a claim in Kubernetes (`status.reservedFor`). */
const consumersLimit = 256

/** A ResourceClaimTemplate in the given files. */
export interface TemplateObject {
  readonly metadata: { readonly name?: string; readonly namespace?: string }
}

/** A ResourceClaimTemplate must be in the manifests or in the set itself. */
export function claimTemplateHints(set: PodCliqueSet, given: readonly TemplateObject[]): Hint[] {
  const own = new Set((set.spec.template.resourceClaimTemplates ?? []).map(({ name }) => name))
  const known = new Set(given.map(({ metadata }) => `${metadata.namespace || 'default'}/${metadata.name}`))
  return sharingOf(set).flatMap(({ field, entry }) => {
    const wanted = `${entry.namespace || set.metadata.namespace || 'default'}/${entry.name}`
    if ((own.has(entry.name) && !entry.namespace) || known.has(wanted)) return []
    const text = `the set has no claim template of this name, and ResourceClaimTemplate ${wanted} is not in the given files; pods that use it stay pending until it exists`
    return [{ field: `${field}.name`, text }]
  })
}

export function claimConsumerHints(set: PodCliqueSet): Hint[] {
  return sharingOf(set).flatMap(({ field, consumers }) =>
    consumers > consumersLimit
      ? [
          {
            field,
            text: `${consumers.toLocaleString('en')} pods would share one claim, but Kubernetes allows ${consumersLimit}; the others stay pending`,
          },
        ]
      : [],
  )
}

interface Sharing {
  readonly field: string
  readonly entry: ResourceSharing
  /** Number of pods that use the same claim. */
  readonly consumers: number
}

/** Every sharing entry of the set, its groups and its cliques. */
function sharingOf({ spec: { replicas = 0, template } }: PodCliqueSet): Sharing[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const groupOf = new Map(groups.flatMap(group => group.cliqueNames.map(name => [name, group] as const)))
  const podsOf = new Map(cliques.map(({ name, spec }) => [name, spec.replicas]))
  /** Number of selected pods in one replica of the group. */
  const podsOfGroup = (
    { cliqueNames }: (typeof groups)[number],
    filter: CliqueOrScalingGroupFilter | undefined,
  ) => sum(cliqueNames.map(name => (chooses(filter, name, undefined) ? (podsOf.get(name) ?? 0) : 0)))
  /** Number of selected pods in one replica of the set. */
  const podsOfReplica = (filter: CliqueOrScalingGroupFilter | undefined) =>
    sum(
      cliques.map(({ name, spec }) => {
        const group = groupOf.get(name)
        return chooses(filter, name, group?.name) ? spec.replicas * (group?.replicas ?? 1) : 0
      }),
    )
  const base = 'spec.template'
  return [
    ...(template.resourceSharing ?? []).map((entry, index) => ({
      field: `${base}.resourceSharing[${index}]`,
      entry,
      consumers: shared(entry, replicas) * podsOfReplica(entry.filter),
    })),
    ...groups.flatMap((group, at) =>
      (group.resourceSharing ?? []).map((entry, index) => ({
        field: `${base}.podCliqueScalingGroups[${at}].resourceSharing[${index}]`,
        entry,
        consumers: shared(entry, group.replicas ?? 1) * podsOfGroup(group, entry.filter),
      })),
    ),
    ...cliques.flatMap((clique, at) =>
      (clique.resourceSharing ?? []).map((entry, index) => ({
        field: `${base}.cliques[${at}].resourceSharing[${index}]`,
        entry,
        consumers: shared(entry, clique.spec.replicas),
      })),
    ),
  ]
}

/** Number of replicas of the owner that share a claim. */
function shared({ scope }: ResourceSharing, replicas: number): number {
  return scope === 'AllReplicas' ? replicas : 1
}

function chooses(
  filter: CliqueOrScalingGroupFilter | undefined,
  clique: string,
  group: string | undefined,
): boolean {
  if (filter === undefined || (filter.childCliqueNames ?? []).includes(clique)) return true
  return group !== undefined && (filter.childScalingGroupNames ?? []).includes(group)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
