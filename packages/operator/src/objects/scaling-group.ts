// SPDX-License-Identifier: Apache-2.0

import {
  annotation,
  apiVersion,
  component,
  kinds,
  label,
  managedLabels,
  type PodCliqueScalingGroup,
} from '@grove/api'
import {
  groupReplicasFromTemplate,
  minAvailableOfGroup,
  type ScalingGroupInstance,
} from '../layout/layout.ts'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'

/** Builds the object for creation. After creation users and autoscalers own its replica count. */
export function podCliqueScalingGroup(set: StoredSet, instance: ScalingGroupInstance): PodCliqueScalingGroup {
  const { config, name, setReplica } = instance
  const annotations = { ...inheritedMnnvlGroup(set), ...config.annotations }
  return {
    apiVersion,
    kind: kinds.podCliqueScalingGroup.kind,
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.scalingGroup,
        [label.name]: name,
        [label.setReplicaIndex]: String(setReplica),
      },
      ...(Object.keys(annotations).length && { annotations }),
      ownerReferences: controlledBy(set),
    },
    spec: {
      replicas: groupReplicasFromTemplate(instance),
      minAvailable: minAvailableOfGroup(config),
      cliqueNames: [...config.cliqueNames],
    },
  }
}

function inheritedMnnvlGroup(set: StoredSet): Record<string, string> {
  const group = set.metadata.annotations?.[annotation.mnnvlGroup]
  return group === undefined ? {} : { [annotation.mnnvlGroup]: group }
}
