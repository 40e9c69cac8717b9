// SPDX-License-Identifier: Apache-2.0

import { component, finalizer, label, managedLabels, names, type ObjectMeta } from '@grove/api'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'

/** A kind of the NVIDIA DRA driver: the nodes whose GPUs communicate over NVLink. */
export interface ComputeDomain {
  apiVersion: 'resource.nvidia.com/v1beta1'
  kind: 'ComputeDomain'
  metadata: ObjectMeta
  spec: { numNodes: number; channel: { resourceClaimTemplate: { name: string } } }
}

/** The driver creates the claim template of this name. Zero nodes: the domain grows with its pods. */
export function computeDomain(set: StoredSet, setReplica: number, group: string): ComputeDomain {
  const name = names.computeDomain(set.metadata.name, setReplica, group)
  return {
    apiVersion: 'resource.nvidia.com/v1beta1',
    kind: 'ComputeDomain',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.computeDomain,
        [label.name]: name,
        [label.setReplicaIndex]: String(setReplica),
        [label.mnnvlGroup]: group,
      },
      finalizers: [finalizer.computeDomain],
      ownerReferences: controlledBy(set),
    },
    spec: { numNodes: 0, channel: { resourceClaimTemplate: { name } } },
  }
}
