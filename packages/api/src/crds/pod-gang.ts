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
  minReplicas: required(int32('Number of pods that must be scheduled together with the gang.')),
  topologyConstraint: packing('Topology constraint for the pods of this group.'),
})

const groupConfig = object<TopologyConstraintGroupConfig>('Groups that are packed together.', {
  name: required(string('Name of the scaling-group replica.')),
  podGroupNames: required(stringList('Names of the pod groups.')),
  topologyConstraint: packing('Topology constraint for the pods of these groups.'),
})

const spec = object<PodGangSpec>('The pods that are scheduled all or none.', {
  podgroups: required(list('The pods, one group per PodClique.', podGroup)),
  topologyConstraint: packing('Topology constraint for all pods of the gang.'),
  topologyConstraintGroupConfigs: list('Topology constraints for some of the groups together.', groupConfig),
  priorityClassName: string('PriorityClass of the gang.'),
  reuseReservationRef: namespacedName('Another gang whose reservation should be reused.'),
})

export const podGang: Definition = {
  kind: kinds.podGang,
  description:
    'PodGang lists pods that a scheduler places all or none, with their topology constraints. The operator creates it from a PodCliqueSet.',
  columns: [textColumn('Phase', '.status.phase')],
  spec,
  status: object<PodGangStatus>('Status reported by the gang scheduler and the operator.', {
    phase: required(
      string(
        'Pending: fewer than minReplicas pods of some group are bound. Starting: the minimum is being bound, or is bound and does not run yet. Running: the minimum of every group runs.',
      ),
    ),
    conditions,
    placementScore: number('Network quality of the placement. 1 is best.'),
  }),
}
