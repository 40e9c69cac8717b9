// SPDX-License-Identifier: Apache-2.0

// Multi-node NVLink: the group that a clique joins, and the claims of its pods for the group's ComputeDomain.
import {
  annotation,
  type CliqueTemplate,
  type Container,
  gpuResourceName,
  mnnvlClaimName,
  mnnvlGroupNone,
  names,
  type PodSpec,
} from '@grove/api'
import { quantityValue, readQuantity } from '@grove/apimachinery'
import { groupOf } from './layout.ts'
import type { StoredSet } from './stored.ts'

type Annotations = Readonly<Record<string, string>> | undefined

/** The first layer that has the annotation decides, from the clique outwards. */
function mnnvlGroup(...layers: Annotations[]): string | undefined {
  const value = layers.find(layer => layer?.[annotation.mnnvlGroup] !== undefined)?.[annotation.mnnvlGroup]
  return value === mnnvlGroupNone ? undefined : value
}

export function mnnvlGroupOf(set: StoredSet, template: CliqueTemplate): string | undefined {
  if (!usesGpus(template.spec.podSpec)) return undefined
  return mnnvlGroup(template.annotations, groupOf(set, template.name)?.annotations, set.metadata.annotations)
}

/** The groups of a set, each once, in template order. Every replica has one ComputeDomain for each group. */
export function mnnvlGroups(set: StoredSet): string[] {
  const groups = set.spec.template.cliques.map(template => mnnvlGroupOf(set, template))
  return [...new Set(groups.filter(group => group !== undefined))]
}

export function usesGpus(podSpec: PodSpec): boolean {
  return [...podSpec.containers, ...(podSpec.initContainers ?? [])].some(hasGpus)
}

function hasGpus(container: Container): boolean {
  return [container.resources?.limits, container.resources?.requests].some(list => {
    const amount = list?.[gpuResourceName]
    return amount !== undefined && isPositive(amount)
  })
}

/**
 * Returns a pod spec that joins the group's ComputeDomain. Unchanged if no container requests GPUs or the claim exists
 * already.
 */
export function withMnnvlClaim(podSpec: PodSpec, set: string, setReplica: number, group: string): PodSpec {
  if (!usesGpus(podSpec) || podSpec.resourceClaims?.some(claim => claim.name === mnnvlClaimName))
    return podSpec
  const claiming = (container: Container): Container =>
    hasGpus(container)
      ? {
          ...container,
          resources: {
            ...container.resources,
            claims: [...(container.resources?.claims ?? []), { name: mnnvlClaimName }],
          },
        }
      : container
  return {
    ...podSpec,
    containers: podSpec.containers.map(claiming),
    ...(podSpec.initContainers && { initContainers: podSpec.initContainers.map(claiming) }),
    resourceClaims: [
      ...(podSpec.resourceClaims ?? []),
      { name: mnnvlClaimName, resourceClaimTemplateName: names.computeDomain(set, setReplica, group) },
    ],
  }
}

/** Counts a malformed quantity as zero. The API server rejects it. */
function isPositive(amount: unknown): boolean {
  const quantity = readQuantity(amount)
  return !(quantity instanceof Error) && quantityValue(quantity) > 0n
}
