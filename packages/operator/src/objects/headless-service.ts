// SPDX-License-Identifier: Apache-2.0

import { component, label, managedLabels, names, type Service } from '@grove/api'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'

/** Gives every pod of a replica a DNS name; the set decides whether unready pods have one. The Service has no ports. */
export function headlessService(set: StoredSet, setReplica: number): Service {
  const name = names.replica(set.metadata.name, setReplica)
  const replicaLabel = { [label.setReplicaIndex]: String(setReplica) }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.headlessService,
        [label.name]: name,
        ...replicaLabel,
      },
      ownerReferences: controlledBy(set),
    },
    spec: {
      clusterIP: 'None',
      selector: { ...managedLabels(set.metadata.name), ...replicaLabel },
      // Omitted if false: the API server does not store the default, so it would look like a difference.
      ...(set.spec.template.headlessServiceConfig?.publishNotReadyAddresses && {
        publishNotReadyAddresses: true,
      }),
    },
  }
}
