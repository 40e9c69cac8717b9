// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  PodCliqueScalingGroupSpec,
  PodCliqueScalingGroupStatus,
  PodCliqueScalingGroupUpdateProgress,
  ReplicasSelectedToUpdate,
} from '../types/index.ts'
import { conditions } from './condition.ts'
import { breachColumn, type Definition, integerColumn } from './definition.ts'
import { lastErrors } from './last-error.ts'
import { int32, int64, list, object, required, string, stringList, time } from './schema.ts'

const spec = object<PodCliqueScalingGroupSpec>('Desired state of the group.', {
  replicas: required(
    int32('Number of replicas. Each replica has one PodClique per member clique.', { default: 1 }),
  ),
  minAvailable: int32('Number of replicas that belong to the base gang of the set and must stay available.', {
    default: 1,
  }),
  cliqueNames: required(stringList('Member cliques, by their short names.')),
})

const updateProgress = object<PodCliqueScalingGroupUpdateProgress>(
  'Progress of the current update, or of the last one.',
  {
    updateStartedAt: required(time('Start time of the update.')),
    updateEndedAt: time('End time of the update. Absent during the update.'),
    podCliqueSetGenerationHash: required(
      string('Target of the update: generation hash of the PodCliqueSet.'),
    ),
    updatedPodCliquesCount: int32('Member PodCliques on the new generation.', { default: 0 }),
    totalPodCliquesCount: int32('Member PodCliques of all replicas.', { default: 0 }),
    readyReplicaIndicesSelectedToUpdate: object<ReplicasSelectedToUpdate>(
      'Ready replicas that are replaced, one at a time.',
      {
        current: required(int32('Replica that is being replaced.')),
        completed: list('Replicas that were replaced already.', { type: 'integer', format: 'int32' }),
      },
    ),
  },
)

const status = object<PodCliqueScalingGroupStatus>('Status reported by the operator.', {
  replicas: int32('Desired replicas.'),
  scheduledReplicas: required(int32('Replicas whose PodCliques are all scheduled.', { default: 0 })),
  availableReplicas: required(
    int32('Scheduled replicas whose PodCliques all have at least `minAvailable` ready pods.', { default: 0 }),
  ),
  updatedReplicas: required(
    int32('Available replicas that are entirely on the newest generation.', { default: 0 }),
  ),
  selector: string('Selects the pods of the group for autoscalers.'),
  observedGeneration: int64('Last observed generation of the object.'),
  lastErrors,
  conditions,
  currentPodCliqueSetGenerationHash: string(
    'Generation hash of the PodCliqueSet that the group has reached.',
  ),
  updateProgress,
})

export const podCliqueScalingGroup: Definition = {
  kind: kinds.podCliqueScalingGroup,
  description:
    'PodCliqueScalingGroup scales several cliques of a PodCliqueSet as one unit, such as the leader and the workers of a multi-node model. The operator creates it. Scale it with `kubectl scale` or an autoscaler.',
  columns: [
    integerColumn('MinAvail', '.spec.minAvailable'),
    integerColumn('Replicas', '.spec.replicas'),
    integerColumn('Available', '.status.availableReplicas'),
    integerColumn('Scheduled', '.status.scheduledReplicas'),
    integerColumn('Updated', '.status.updatedReplicas'),
    integerColumn('PCLQs-Updated', '.status.updateProgress.updatedPodCliquesCount'),
    integerColumn('PCLQs-Total', '.status.updateProgress.totalPodCliquesCount'),
    breachColumn,
  ],
  scaleSelectorPath: '.status.selector',
  spec,
  status,
}
