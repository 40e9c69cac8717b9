// SPDX-License-Identifier: Apache-2.0

import {
  annotation,
  apiVersion,
  component,
  kinds,
  label,
  managedLabels,
  type PodClique,
  type PodSpec,
  reservedLabels,
  scalingGroupEnvironment,
} from '@grove/api'
import { type CliqueInstance, templateNamed } from '../layout/layout.ts'
import { mnnvlGroupOf, withMnnvlClaim } from '../layout/mnnvl.ts'
import { controlledBy, type Owner } from '../layout/owner.ts'
import { startupParents } from '../layout/startup-order.ts'
import type { StoredSet } from '../layout/stored.ts'
import { fromLabel, literal, withEnvironment } from './container-env.ts'

/**
 * Builds a PodClique for creation. Its owner is the set, or the scaling group that it is a member of. After creation
 * users and autoscalers own its replica count.
 */
export function podClique(
  set: StoredSet,
  instance: CliqueInstance,
  owner: Owner,
  podTemplateHash: string,
): PodClique {
  const { template, name } = instance
  const annotations = withoutTopologyName(template.annotations)
  const startsAfter = startupParents(set, instance).map(parent => parent.name)
  const { startsAfter: _, ...spec } = template.spec
  return {
    apiVersion,
    kind: kinds.podClique.kind,
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...unreserved(template.labels), ...cliqueLabels(set, instance, podTemplateHash) },
      ...(Object.keys(annotations).length && { annotations }),
      ownerReferences: controlledBy(owner),
    },
    spec: {
      ...spec,
      podSpec: podSpecOf(set, instance),
      ...(startsAfter.length && { startsAfter }),
    },
  }
}

export function cliqueLabels(
  set: StoredSet,
  instance: CliqueInstance,
  podTemplateHash: string,
): Record<string, string> {
  const { name, setReplica, podGang, basePodGang, group } = instance
  return {
    ...managedLabels(set.metadata.name),
    [label.component]: group ? component.memberClique : component.standaloneClique,
    [label.name]: name,
    [label.setReplicaIndex]: String(setReplica),
    [label.podGang]: podGang,
    [label.podTemplateHash]: podTemplateHash,
    ...(group && {
      [label.scalingGroup]: group.instance.name,
      [label.scalingGroupReplicaIndex]: String(group.replica),
    }),
    ...(basePodGang && { [label.basePodGang]: basePodGang }),
  }
}

function podSpecOf(set: StoredSet, instance: CliqueInstance): PodSpec {
  const { template, setReplica, group } = instance
  let podSpec = template.spec.podSpec
  if (group) {
    const podCount = group.instance.config.cliqueNames
      .map(clique => templateNamed(set, clique, group.instance.config.name).spec.replicas)
      .reduce((sum, replicas) => sum + replicas, 0)
    podSpec = withEnvironment(podSpec, [
      fromLabel(scalingGroupEnvironment.name, label.scalingGroup),
      literal(scalingGroupEnvironment.templatePodCount, String(podCount)),
      fromLabel(scalingGroupEnvironment.index, label.scalingGroupReplicaIndex),
    ])
  }
  const mnnvlGroup = mnnvlGroupOf(set, template)
  return mnnvlGroup === undefined
    ? podSpec
    : withMnnvlClaim(podSpec, set.metadata.name, setReplica, mnnvlGroup)
}

/** A standalone clique has no group label: a group label from its template would make it a member of that group. */
function unreserved(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !reservedLabels.has(key)))
}

function withoutTopologyName(
  annotations: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const { [annotation.topologyName]: _, ...kept } = annotations ?? {}
  return kept
}
