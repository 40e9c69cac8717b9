// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, quote } from '@grove/apimachinery'
import type { PodCliqueSet, TopologyConstraint } from '../../types/index.ts'
import type { ClusterView } from '../cluster-view.ts'
import { path } from './paths.ts'
import { quotable } from './quotable.ts'
import {
  allConstraints,
  type LocatedConstraint,
  preferredDomain,
  referencedDomains,
  requiredDomain,
} from './topology-constraints.ts'
import { resolveTopologyNames } from './topology-names.ts'

export interface TopologyOutcome {
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

const nothing: TopologyOutcome = { errors: [], warnings: [] }

/**
 * Validates the constraints of a new PodCliqueSet: names, then domains, then hierarchy. Each step runs only if the
 * previous step found no error.
 */
export function validateTopologyOnCreate(
  set: PodCliqueSet,
  topologyAwareSchedulingEnabled: boolean,
  cluster: ClusterView,
): TopologyOutcome {
  const constraints = allConstraints(set)
  if (constraints.length === 0) return nothing
  if (!topologyAwareSchedulingEnabled) return { errors: constraints.map(notAllowed), warnings: [] }

  const { name, errors } = resolveTopologyNames(set)
  if (errors.length > 0 || name === undefined) return { errors, warnings: [] }

  // The error is reported at the set even if only a clique names the binding, because the whole set has one binding.
  const field = `${path.template}.topologyConstraint.topologyName`
  const domains = cluster.topologyDomains(name)
  switch (domains.outcome) {
    case 'notFound':
      return {
        errors: [fieldError.invalid(field, name, `ClusterTopologyBinding ${quote(name)} not found`)],
        warnings: [],
      }
    case 'failed':
      return {
        errors: [
          fieldError.internal(
            field,
            `failed to fetch ClusterTopologyBinding ${quote(name)}: ${domains.error}`,
          ),
        ],
        warnings: [],
      }
    case 'found': {
      const levels = new Map(domains.value.map((domain, level) => [domain, level]))
      const known = domains.value.join(' ')
      const unknown = constraints.flatMap(located => unknownDomains(located, levels, known))
      return {
        errors: unknown.length > 0 ? unknown : validateHierarchy(set, levels),
        warnings: constraints.flatMap(located => redundantPreference(located, levels)),
      }
    }
  }
}

/** Position of each domain in the topology, broadest first. */
type Levels = ReadonlyMap<string, number>

function notAllowed({ field, constraint }: LocatedConstraint): FieldError {
  return fieldError.invalid(
    field,
    referencedDomains(constraint),
    'topology constraints are not allowed when Topology Aware Scheduling is disabled',
  )
}

function unknownDomains(
  { field, constraint }: LocatedConstraint,
  levels: Levels,
  known: string,
): FieldError[] {
  const places: [string, string | undefined][] = [
    [`${field}.packDomain`, constraint.packDomain],
    [`${field}.pack.required`, constraint.pack?.required],
    [`${field}.pack.preferred`, constraint.pack?.preferred],
  ]
  return places.flatMap(([at, domain]) =>
    !domain || levels.has(domain)
      ? []
      : [
          fieldError.invalid(
            at,
            domain,
            `topology domain '${domain}' does not exist in cluster topology [${known}]`,
          ),
        ],
  )
}

function redundantPreference({ field, constraint }: LocatedConstraint, levels: Levels): string[] {
  const required = levels.get(requiredDomain(constraint))
  const preferred = levels.get(preferredDomain(constraint))
  if (required === undefined || preferred === undefined || preferred >= required) return []
  return [`${field}.pack.preferred is coarser than ${field}.pack.required and is redundant`]
}

interface Owner {
  readonly field: string
  /** `PodCliqueSet` or `PodCliqueScalingGroup 'name'`. */
  readonly title: string
  readonly constraint: TopologyConstraint | undefined
}

interface Child {
  readonly kind: 'PodClique' | 'PodCliqueScalingGroup'
  readonly name: string
  readonly topologyConstraint?: TopologyConstraint | undefined
}

/** A set or group must not be packed more narrowly than its parts. */
function validateHierarchy(set: PodCliqueSet, levels: Levels): FieldError[] {
  const { topologyConstraint, cliques, podCliqueScalingGroups = [] } = set.spec.template
  const owner: Owner = {
    field: `${path.template}.topologyConstraint`,
    title: 'PodCliqueSet',
    constraint: topologyConstraint,
  }
  const children = new Map<string, Child>(
    cliques.map(({ name, topologyConstraint: constraint }) => [
      name,
      { kind: 'PodClique', name, topologyConstraint: constraint },
    ]),
  )
  return [
    ...[...children.values()].flatMap(child => narrowerThan(owner, child, levels)),
    ...podCliqueScalingGroups.flatMap(group =>
      narrowerThan(owner, { ...group, kind: 'PodCliqueScalingGroup' }, levels),
    ),
    ...podCliqueScalingGroups.flatMap((group, index) => {
      const parent: Owner = {
        field: `${path.scalingGroup(index)}.topologyConstraint`,
        title: `PodCliqueScalingGroup '${quotable(group.name)}'`,
        constraint: group.topologyConstraint,
      }
      return group.cliqueNames.flatMap(name => {
        const member = children.get(name)
        return member ? narrowerThan(parent, member, levels) : []
      })
    }),
  ]
}

function narrowerThan(parent: Owner, child: Child, levels: Levels): FieldError[] {
  const errors: FieldError[] = []
  const compare = (field: string, outer: string, inner: string): void => {
    const outerLevel = levels.get(outer)
    const innerLevel = levels.get(inner)
    if (outerLevel === undefined || innerLevel === undefined || outerLevel <= innerLevel) return
    errors.push(
      fieldError.invalid(
        field,
        outer,
        `${parent.title} topology constraint domain '${outer}' is narrower than ${child.kind} '${child.name}' topology constraint domain '${inner}'`,
      ),
    )
  }
  compare(parent.field, requiredDomain(parent.constraint), requiredDomain(child.topologyConstraint))
  compare(
    `${parent.field}.pack.preferred`,
    preferredDomain(parent.constraint),
    preferredDomain(child.topologyConstraint),
  )
  return errors
}
