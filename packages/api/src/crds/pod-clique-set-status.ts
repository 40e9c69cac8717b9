// SPDX-License-Identifier: Apache-2.0

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
  phase: required(choice('How far it is.', ['Pending', 'Starting', 'Running', 'Failed', 'Succeeded'])),
  conditions,
})

const replicaUpdate = object<ReplicaUpdateProgress>('A replica of the set.', {
  replicaIndex: required(int32('Which replica.')),
  updateStartedAt: time('When its update began.'),
  updateEndedAt: time('When its update ended.'),
})

const updateProgress = object<PodCliqueSetUpdateProgress>('The running update, or the last one.', {
  updateStartedAt: time('When the update began.'),
  updateEndedAt: time('When it ended; absent while it runs.'),
  updatedPodCliquesCount: int32('PodCliques outside of scaling groups that reached the new generation.', {
    default: 0,
  }),
  totalPodCliquesCount: int32('PodCliques outside of scaling groups.', { default: 0 }),
  updatedPodCliqueScalingGroupsCount: int32('PodCliqueScalingGroups that reached the new generation.', {
    default: 0,
  }),
  totalPodCliqueScalingGroupsCount: int32('PodCliqueScalingGroups.', { default: 0 }),
  currentlyUpdating: list('The replicas that are being updated; empty with OnDelete.', replicaUpdate),
  surgeReplicas: int32(
    'Replicas beyond spec.replicas, with the indexes that follow, that are there until the update ends.',
  ),
})

export const podCliqueSetStatus = object<PodCliqueSetStatus>('What the operator observed.', {
  observedGeneration: int64('Generation of the object that was carried out to its end.'),
  conditions,
  lastErrors,
  replicas: int32('Replicas that are wanted.'),
  updatedReplicas: required(
    int32('Replicas that are available and wholly on the newest generation.', { default: 0 }),
  ),
  availableReplicas: required(
    int32('Replicas in which every clique and every scaling group has enough ready pods.', { default: 0 }),
  ),
  hpaPodSelector: string('Selects all pods of the set for autoscalers.'),
  podGangStatuses: list('The gangs of the set.', podGangStatus),
  currentGenerationHash: string('Names the newest template.'),
  updateProgress,
})
