// SPDX-License-Identifier: Apache-2.0

import {
  annotation,
  component,
  kinds,
  label,
  managedLabels,
  type NamespacedName,
  names,
  ownKeyPrefix,
  type PodGang,
  type PodGangTopologyConstraint,
  type PodGroup,
  schedulerApiVersion,
  type TopologyConstraintGroupConfig,
  type TopologyLevel,
} from '@grove/api'
import {
  memberCliques,
  minAvailableOfClique,
  minAvailableOfGroup,
  type PodGangInstance,
  range,
  scalingGroups,
} from '../layout/layout.ts'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import { topologyName, translateConstraint } from '../layout/topology.ts'

export interface PodGangContext {
  readonly set: StoredSet
  /** Levels of the set's topology, broadest first. Empty if its binding is missing; undefined if the feature is off. */
  readonly levels: readonly TopologyLevel[] | undefined
  readonly schedulerName: string
  /** The names of the pods of a clique that belong to the gang and are not terminating. */
  podsOf(clique: string): readonly string[]
  /** The stored gang. Its Grove labels and annotations are kept. */
  readonly existing?: PodGang
}

export function podGang(instance: PodGangInstance, context: PodGangContext): PodGang {
  const { set } = context
  const spec = podGangSpec(instance, context)
  const annotations = podGangAnnotations(spec, context)
  return {
    apiVersion: schedulerApiVersion,
    kind: kinds.podGang.kind,
    metadata: {
      name: instance.name,
      namespace: set.metadata.namespace,
      labels: {
        ...ownKeys(context.existing?.metadata.labels),
        ...foreignKeys(set.metadata.labels),
        ...managedLabels(set.metadata.name),
        [label.component]: component.podGang,
        [label.schedulerName]: context.schedulerName,
      },
      ...(Object.keys(annotations).length && { annotations }),
      ownerReferences: controlledBy(set),
    },
    spec,
  }
}

function podGangSpec(instance: PodGangInstance, context: PodGangContext): PodGang['spec'] {
  const { set, levels = [] } = context
  const { template } = set.spec
  const ofGroup = instance.scaled?.instance.config.topologyConstraint
  const constraint = translateConstraint(ofGroup ?? template.topologyConstraint, levels)
  const groupConfigs =
    instance.scaled || !context.levels ? [] : topologyGroups(set, instance.setReplica, levels)
  return {
    podgroups: instance.cliques.map(clique =>
      podGroup(clique.name, minAvailableOfClique(clique.template), {
        references: context.podsOf(clique.name).map(name => ({ namespace: set.metadata.namespace, name })),
        constraint: translateConstraint(clique.template.topologyConstraint, levels),
      }),
    ),
    ...(constraint && { topologyConstraint: constraint }),
    ...(groupConfigs.length && { topologyConstraintGroupConfigs: groupConfigs }),
    ...(template.priorityClassName && { priorityClassName: template.priorityClassName }),
  }
}

function podGroup(
  name: string,
  minReplicas: number,
  rest: { references: NamespacedName[]; constraint: PodGangTopologyConstraint | undefined },
): PodGroup {
  return {
    name,
    // Sorted, so that the order of a list never causes a write.
    podReferences: rest.references.sort((a, b) => (a.name < b.name ? -1 : 1)),
    minReplicas,
    ...(rest.constraint && { topologyConstraint: rest.constraint }),
  }
}

/**
 * In a base gang, every replica of a constrained scaling group is packed separately, even while its level is missing.
 */
function topologyGroups(
  set: StoredSet,
  setReplica: number,
  levels: readonly TopologyLevel[],
): TopologyConstraintGroupConfig[] {
  return scalingGroups(set, setReplica)
    .filter(group => group.config.topologyConstraint)
    .flatMap(group =>
      range(0, minAvailableOfGroup(group.config)).map(replica => {
        const constraint = translateConstraint(group.config.topologyConstraint, levels)
        return {
          name: names.scalingGroupReplica(group.name, replica),
          podGroupNames: memberCliques(set, group, replica).map(clique => clique.name),
          ...(constraint && { topologyConstraint: constraint }),
        }
      }),
    )
}

function podGangAnnotations(spec: PodGang['spec'], context: PodGangContext): Record<string, string> {
  const { [annotation.topologyName]: _, ...kept } = {
    ...ownKeys(context.existing?.metadata.annotations),
    ...foreignKeys(context.set.metadata.annotations),
  }
  const topology = topologyName(context.set)
  return isConstrained(spec) && topology ? { ...kept, [annotation.topologyName]: topology } : kept
}

function isConstrained(spec: PodGang['spec']): boolean {
  return (
    spec.topologyConstraint !== undefined ||
    (spec.topologyConstraintGroupConfigs ?? []).some(config => config.topologyConstraint) ||
    spec.podgroups.some(group => group.topologyConstraint)
  )
}

type Tags = Readonly<Record<string, string>> | undefined

function ownKeys(tags: Tags): Record<string, string> {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => key.startsWith(ownKeyPrefix)))
}

function foreignKeys(tags: Tags): Record<string, string> {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => !key.startsWith(ownKeyPrefix)))
}
