// SPDX-License-Identifier: Apache-2.0

import {
  component,
  label,
  managedLabels,
  names,
  type ResourceClaim,
  type ResourceClaimSpec,
  type ResourceSharing,
} from '@grove/api'
import type { CliqueInstance, ScalingGroupInstance } from '../layout/layout.ts'
import { controlledBy, type Owner } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { WantedChild } from './wanted-child.ts'

/** Returns the template that a sharing entry refers to; undefined if it does not exist (yet). */
export type ClaimTemplateLookup = (entry: ResourceSharing) => ResourceClaimSpec | undefined

/** The owner of shared claims, and the label by which the claims name its replica. */
interface ClaimOwner {
  readonly object: Owner
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly replicaLabel: string
}

export function claimsOfSet(
  set: StoredSet,
  replicas: Iterable<number>,
  find: ClaimTemplateLookup,
): Iterable<WantedChild<ResourceClaim>> {
  const owner = { object: set, name: set.metadata.name, labels: {}, replicaLabel: label.setReplicaIndex }
  return claims(set, owner, set.spec.template.resourceSharing ?? [], replicas, find)
}

export function claimsOfScalingGroup(
  set: StoredSet,
  instance: ScalingGroupInstance,
  object: Owner,
  replicas: Iterable<number>,
  find: ClaimTemplateLookup,
): Iterable<WantedChild<ResourceClaim>> {
  const owner = {
    object,
    name: instance.name,
    labels: { [label.scalingGroup]: instance.name },
    replicaLabel: label.scalingGroupReplicaIndex,
  }
  return claims(set, owner, instance.config.resourceSharing ?? [], replicas, find)
}

export function claimsOfClique(
  set: StoredSet,
  instance: CliqueInstance,
  object: Owner,
  podIndexes: Iterable<number>,
  find: ClaimTemplateLookup,
): Iterable<WantedChild<ResourceClaim>> {
  const owner = {
    object,
    name: instance.name,
    labels: { [label.podClique]: instance.name },
    replicaLabel: label.podIndex,
  }
  return claims(set, owner, instance.template.resourceSharing ?? [], podIndexes, find)
}

function* claims(
  set: StoredSet,
  owner: ClaimOwner,
  entries: readonly ResourceSharing[],
  replicas: Iterable<number>,
  find: ClaimTemplateLookup,
): Generator<WantedChild<ResourceClaim>> {
  for (const entry of entries) {
    const spec = find(entry)
    if (!spec) continue
    if (entry.scope === 'AllReplicas') {
      const name = names.claimForAllReplicas(owner.name, entry.name)
      yield { name, build: () => claim(set, owner, name, spec, {}) }
      continue
    }
    for (const replica of replicas) {
      const name = names.claimPerReplica(owner.name, replica, entry.name)
      const replicaLabel = { [owner.replicaLabel]: String(replica) }
      yield { name, build: () => claim(set, owner, name, spec, replicaLabel) }
    }
  }
}

function claim(
  set: StoredSet,
  owner: ClaimOwner,
  name: string,
  spec: ResourceClaimSpec,
  replicaLabel: Readonly<Record<string, string>>,
): ResourceClaim {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.resourceClaim,
        ...owner.labels,
        ...replicaLabel,
      },
      ownerReferences: controlledBy(owner.object),
    },
    spec,
  }
}
