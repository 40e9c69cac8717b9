// SPDX-License-Identifier: Apache-2.0

// Translates domain names in a PodCliqueSet to node label keys in its gangs.
import type {
  ClusterTopologyBinding,
  PodGangTopologyConstraint,
  TopologyConstraint,
  TopologyLevel,
} from '@grove/api'
import { scalingGroupConfigs } from './layout.ts'
import type { StoredSet } from './stored.ts'

function requiredDomain(constraint: TopologyConstraint): string | undefined {
  return constraint.pack?.required || constraint.packDomain || undefined
}

function preferredDomain(constraint: TopologyConstraint): string | undefined {
  return constraint.pack?.preferred || undefined
}

/** All topology constraints of a set, from the outermost to the innermost. */
export function topologyConstraints(set: StoredSet): TopologyConstraint[] {
  return [
    set.spec.template.topologyConstraint,
    ...scalingGroupConfigs(set).map(config => config.topologyConstraint),
    ...set.spec.template.cliques.map(template => template.topologyConstraint),
  ].filter(constraint => constraint !== undefined)
}

/** The one topology of a set: the first name from the outermost constraint inwards. */
export function topologyName(set: StoredSet): string | undefined {
  return topologyConstraints(set).find(constraint => constraint.topologyName)?.topologyName
}

/** The scheduler's own topology that a binding refers to; undefined if the binding refers to none. */
export function topologyReference(
  binding: ClusterTopologyBinding | undefined,
  schedulerName: string,
): string | undefined {
  const references = binding?.spec.schedulerTopologyBindings ?? []
  return references.find(reference => reference.schedulerName === schedulerName)?.topologyReference
}

/** The domains that the set names, each once. */
export function referencedDomains(set: StoredSet): string[] {
  const domains = topologyConstraints(set).flatMap(constraint => [
    requiredDomain(constraint),
    preferredDomain(constraint),
  ])
  return [...new Set(domains.filter(domain => domain !== undefined))]
}

/**
 * Translates a constraint for the scheduler. Ignores a domain that the topology does not have. Omits a preference that
 * is broader than the required domain, because it is always met.
 */
export function translateConstraint(
  constraint: TopologyConstraint | undefined,
  levels: readonly TopologyLevel[],
): PodGangTopologyConstraint | undefined {
  if (!constraint) return undefined
  const required = levels.findIndex(level => level.domain === requiredDomain(constraint))
  const preferred = levels.findIndex(level => level.domain === preferredDomain(constraint))
  const packConstraint = {
    ...(required >= 0 && { required: levels[required]!.key }),
    ...(preferred >= 0 && preferred >= required && { preferred: levels[preferred]!.key }),
  }
  return Object.keys(packConstraint).length ? { packConstraint } : undefined
}
