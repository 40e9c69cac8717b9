// SPDX-License-Identifier: Apache-2.0

import { podGangSummaryPhases } from '../gang-status.ts'
import type {
  PodCliqueSetStatus,
  PodCliqueSetUpdateProgress,
  PodGangStatusSummary,
  ReplicaUpdateProgress,
} from '../types/index.ts'
import { conditions } from './condition.ts'
import { lastErrors } from './last-error.ts'
import { choice, int32, int64, list, object, required, string, time } from './schema.ts'

const podGangStatus = object<PodGangStatusSummary>('A gang of the set.', {
  name: required(string('Name of the PodGang.')),
  phase: required(choice('Phase of the PodGang.', podGangSummaryPhases)),
  conditions,
})

const replicaUpdate = object<ReplicaUpdateProgress>('A replica of the set.', {
  replicaIndex: required(int32('Index of the replica.')),
  updateStartedAt: time('Start time of its update.'),
  updateEndedAt: time('End time of its update.'),
})

const updateProgress = object<PodCliqueSetUpdateProgress>(
  'Progress of the current update, or of the last one.',
  {
    updateStartedAt: time('Start time of the update.'),
    updateEndedAt: time('End time of the update. Absent during the update.'),
    updatedPodCliquesCount: int32('Standalone PodCliques on the new generation.', {
      default: 0,
    }),
    totalPodCliquesCount: int32('Standalone PodCliques.', { default: 0 }),
    updatedPodCliqueScalingGroupsCount: int32('PodCliqueScalingGroups on the new generation.', {
      default: 0,
    }),
    totalPodCliqueScalingGroupsCount: int32('PodCliqueScalingGroups.', { default: 0 }),
    currentlyUpdating: list('Replicas that are being updated. Empty with OnDelete.', replicaUpdate),
    surgeReplicas: int32(
      'Replicas beyond spec.replicas, with the next indexes, which exist until the update ends.',
    ),
  },
)

export const podCliqueSetStatus = object<PodCliqueSetStatus>('Status reported by the operator.', {
  observedGeneration: int64('Last generation that was reconciled completely.'),
  conditions,
  lastErrors,
  replicas: int32('Desired replicas.'),
  updatedReplicas: required(
    int32('Available replicas that are entirely on the newest generation.', { default: 0 }),
  ),
  availableReplicas: required(
    int32('Replicas in which no clique and no scaling group is below its `minAvailable`.', { default: 0 }),
  ),
  hpaPodSelector: string('Selects all pods of the set for autoscalers.'),
  podGangStatuses: list(
    'The gangs of the set, at most 100. Of more gangs, those that are not Running come first. A gang that waits has its condition Scheduled.',
    podGangStatus,
  ),
  currentGenerationHash: string('Generation hash of the newest template.'),
  updateProgress,
})
