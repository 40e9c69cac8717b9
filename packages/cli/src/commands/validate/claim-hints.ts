// SPDX-License-Identifier: Apache-2.0

// Shared device claims that admission accepts because only the cluster knows better: their templates may come later,
// and Kubernetes counts the pods that use a claim when it allocates it.
import type { CliqueOrScalingGroupFilter, PodCliqueSet, ResourceSharing } from '@grove/api'

export interface Hint {
  readonly field: string
  readonly text: string
}

/** Kubernetes reserves a claim for no more pods than this (`status.reservedFor`). */
const consumersLimit = 256

/** A ResourceClaimTemplate of the given files. */
export interface TemplateObject {
  readonly metadata: { readonly name?: string; readonly namespace?: string }
}

/** A ResourceClaimTemplate has a place in the manifests, or in the set itself. */
export function claimTemplateHints(set: PodCliqueSet, given: readonly TemplateObject[]): Hint[] {
  const own = new Set((set.spec.template.resourceClaimTemplates ?? []).map(({ name }) => name))
  const known = new Set(given.map(({ metadata }) => `${metadata.namespace || 'default'}/${metadata.name}`))
  return sharingOf(set).flatMap(({ field, entry }) => {
    const wanted = `${entry.namespace || set.metadata.namespace || 'default'}/${entry.name}`
    if ((own.has(entry.name) && !entry.namespace) || known.has(wanted)) return []
    const text = `no claim template of the set has this name, and ResourceClaimTemplate ${wanted} is not in the given files; pods that use it stay pending until it exists`
    return [{ field: `${field}.name`, text }]
  })
}

export function claimConsumerHints(set: PodCliqueSet): Hint[] {
  return sharingOf(set).flatMap(({ field, consumers }) =>
    consumers > consumersLimit
      ? [
          {
            field,
            text: `${consumers.toLocaleString('en')} pods would share one claim, and Kubernetes lets ${consumersLimit} pods use one; the others stay pending`,
          },
        ]
      : [],
  )
}

interface Sharing {
  readonly field: string
  readonly entry: ResourceSharing
  /** Pods that use the same claim. */
  readonly consumers: number
}

/** Every entry of the set, its groups and its cliques. */
function sharingOf({ spec: { replicas = 0, template } }: PodCliqueSet): Sharing[] {
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  const groupOf = new Map(groups.flatMap(group => group.cliqueNames.map(name => [name, group] as const)))
  const podsOf = new Map(cliques.map(({ name, spec }) => [name, spec.replicas]))
  /** The pods of one replica of the group that the filter chooses. */
  const podsOfGroup = (
    { cliqueNames }: (typeof groups)[number],
    filter: CliqueOrScalingGroupFilter | undefined,
  ) => sum(cliqueNames.map(name => (chooses(filter, name, undefined) ? (podsOf.get(name) ?? 0) : 0)))
  /** The pods of one replica of the set that the filter chooses. */
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

/** How many replicas of its owner share a claim. */
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
