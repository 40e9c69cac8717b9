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

const spec = object<PodCliqueScalingGroupSpec>('The copies that are wanted.', {
  replicas: required(int32('How many copies of the member cliques exist.', { default: 1 })),
  minAvailable: int32(
    'How many copies are scheduled in one gang with the rest of the set and must stay available.',
    { default: 1 },
  ),
  cliqueNames: required(stringList('Member cliques, by their short names.')),
})

const updateProgress = object<PodCliqueScalingGroupUpdateProgress>('The running update, or the last one.', {
  updateStartedAt: required(time('When the update began.')),
  updateEndedAt: time('When it ended; absent while it runs.'),
  podCliqueSetGenerationHash: required(string('Generation of the PodCliqueSet that is the target.')),
  updatedPodCliquesCount: int32('Member PodCliques that reached the new generation.', { default: 0 }),
  totalPodCliquesCount: int32('Member PodCliques of all copies.', { default: 0 }),
  readyReplicaIndicesSelectedToUpdate: object<ReplicasSelectedToUpdate>(
    'Ready copies that are replaced, one at a time.',
    {
      current: required(int32('Copy that is being replaced.')),
      completed: list('Copies that were replaced before.', { type: 'integer', format: 'int32' }),
    },
  ),
})

const status = object<PodCliqueScalingGroupStatus>('What the operator observed.', {
  replicas: int32('Copies that are wanted.'),
  scheduledReplicas: required(int32('Copies whose PodCliques are all scheduled.', { default: 0 })),
  availableReplicas: required(
    int32('Scheduled copies whose PodCliques all have enough ready pods.', { default: 0 }),
  ),
  updatedReplicas: required(
    int32('Available copies that are wholly on the newest generation.', { default: 0 }),
  ),
  selector: string('Selects the pods of the group for autoscalers.'),
  observedGeneration: int64('Generation of the object that the operator has seen.'),
  lastErrors,
  conditions,
  currentPodCliqueSetGenerationHash: string('Generation of the PodCliqueSet that the group has reached.'),
  updateProgress,
})

export const podCliqueScalingGroup: Definition = {
  kind: kinds.podCliqueScalingGroup,
  description:
    'PodCliqueScalingGroup scales several cliques of a PodCliqueSet as one unit, such as the leader and the workers of a model that spans nodes. The operator makes it; scale it with `kubectl scale` or an autoscaler.',
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
