// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  NamespacedName,
  PodGangSpec,
  PodGangStatus,
  PodGangTopologyConstraint,
  PodGroup,
  TopologyConstraintGroupConfig,
  TopologyPackConstraint,
} from '../types/index.ts'
import { conditions } from './condition.ts'
import { type Definition, textColumn } from './definition.ts'
import { int32, list, number, object, required, string, stringList } from './schema.ts'
import type { StructuralSchema } from './structural-schema.ts'

function namespacedName(description: string): StructuralSchema {
  return object<NamespacedName>(description, {
    namespace: required(string('Namespace of the object.')),
    name: required(string('Name of the object.')),
  })
}

function packing(description: string): StructuralSchema {
  return object<PodGangTopologyConstraint>(description, {
    packConstraint: object<TopologyPackConstraint>('Packs pods onto nodes with one value of a label.', {
      required: string('Key of the node label whose value all nodes must share.'),
      preferred: string('Key of the node label whose value all nodes should share.'),
    }),
  })
}

const podGroup = object<PodGroup>('Pods of one PodClique.', {
  name: required(string('Name of the PodClique.')),
  podReferences: required(list('The pods, sorted by name.', namespacedName('A pod.'))),
  minReplicas: required(int32('How many of the pods must be placed together with the gang.')),
  topologyConstraint: packing('Where the pods of this group stand.'),
})

const groupConfig = object<TopologyConstraintGroupConfig>('Groups that are packed together.', {
  name: required(string('Name of the scaling-group replica.')),
  podGroupNames: required(stringList('Names of the pod groups.')),
  topologyConstraint: packing('Where the pods of these groups stand.'),
})

const spec = object<PodGangSpec>('The pods that are scheduled all or none.', {
  podgroups: required(list('The pods, one group per PodClique.', podGroup)),
  topologyConstraint: packing('Where all pods of the gang stand.'),
  topologyConstraintGroupConfigs: list('Where some of the groups stand together.', groupConfig),
  priorityClassName: string('PriorityClass of the gang.'),
  reuseReservationRef: namespacedName('Another gang whose reserved place should be used again.'),
})

export const podGang: Definition = {
  kind: kinds.podGang,
  description:
    'PodGang tells a scheduler which pods to place all or none, and how close together. The operator makes it from a PodCliqueSet.',
  columns: [textColumn('Phase', '.status.phase')],
  spec,
  status: object<PodGangStatus>('How far the gang is.', {
    phase: required(
      string(
        'Pending: not yet scheduled. Starting: pods are being bound. Running: all are scheduled and run.',
      ),
    ),
    conditions,
    placementScore: number('How well the placement suits the network; 1 is best.'),
  }),
}
