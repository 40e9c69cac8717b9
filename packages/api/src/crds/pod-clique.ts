// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  PodCliqueSpec,
  PodCliqueStatus,
  PodCliqueUpdateProgress,
  PodsSelectedToUpdate,
} from '../types/index.ts'
import { autoScaling } from './autoscaling.ts'
import { conditions } from './condition.ts'
import { breachColumn, type Definition, integerColumn, wide } from './definition.ts'
import { embedded } from './embedded.ts'
import { lastErrors } from './last-error.ts'
import { described, int32, int64, object, required, string, stringList, time } from './schema.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** Of a PodClique, and of a clique template of a PodCliqueSet. */
export function podCliqueSpec(description: string): StructuralSchema {
  return object<PodCliqueSpec>(description, {
    roleName: required(string('Role of the clique in the system, unique in the set. Immutable.')),
    podSpec: required(
      described(
        'The pods of the clique, written like the spec of a Pod (see `kubectl explain pod.spec`). All cliques of a set name the same scheduler.',
        embedded('core.v1.PodSpec'),
      ),
    ),
    replicas: required(int32('How many pods the clique has.')),
    minAvailable: int32(
      'How many pods must be schedulable together before any starts, and how many must stay available; fewer start the termination delay. Defaults to `replicas`. Immutable.',
    ),
    startsAfter: stringList(
      'Cliques that must be ready before the pods of this one start. Only for the start-up type CliqueStartupTypeExplicit; without circles. Immutable. In a PodClique these are full names of PodCliques.',
    ),
    autoScalingConfig: autoScaling(
      'Scales the clique automatically. Not allowed for members of a scaling group, which scale as a group.',
    ),
  })
}

const updateProgress = object<PodCliqueUpdateProgress>('The running update, or the last one.', {
  updateStartedAt: time('When the update began.'),
  updateEndedAt: time('When it ended; absent while it runs.'),
  podCliqueSetGenerationHash: required(string('Generation of the PodCliqueSet that is the target.')),
  podTemplateHash: required(string('Hash of the pod template that is the target.')),
  readyPodsSelectedToUpdate: object<PodsSelectedToUpdate>('Ready pods that are replaced, one at a time.', {
    current: required(string('Pod that is being replaced.')),
    completed: stringList('Pods that were replaced before, oldest first.'),
    currentIndex: int32(
      'Index of the pod that is being replaced. The next pod is replaced when the new pod with this index is ready.',
    ),
  }),
})

const status = object<PodCliqueStatus>('What the operator observed.', {
  observedGeneration: int64('Generation of the object that the operator has seen.'),
  lastErrors,
  replicas: int32('Pods that exist and are not being deleted.'),
  readyReplicas: required(int32('Pods that are ready.', { default: 0 })),
  updatedReplicas: required(int32('Pods made from the newest template.', { default: 0 })),
  scheduleGatedReplicas: required(
    int32('Pods that are held back from scheduling until their gang may start.', { default: 0 }),
  ),
  scheduledReplicas: required(int32('Pods that have a node.', { default: 0 })),
  hpaPodSelector: string('Selects the pods for autoscalers; absent for members of a scaling group.'),
  conditions,
  currentPodCliqueSetGenerationHash: string('Generation of the PodCliqueSet that all pods have reached.'),
  currentPodTemplateHash: string('Hash of the pod template that all pods have reached.'),
  updateProgress,
})

export const podClique: Definition = {
  kind: kinds.podClique,
  description:
    'PodClique is a group of pods with one role that are scheduled as a gang. The operator makes it from a clique of a PodCliqueSet; change it there.',
  columns: [
    integerColumn('MinAvail', '.spec.minAvailable'),
    integerColumn('Replicas', '.spec.replicas'),
    integerColumn('Ready', '.status.readyReplicas'),
    integerColumn('Scheduled', '.status.scheduledReplicas'),
    integerColumn('Updated', '.status.updatedReplicas'),
    wide(integerColumn('Gated', '.status.scheduleGatedReplicas')),
    breachColumn,
  ],
  scaleSelectorPath: '.status.hpaPodSelector',
  spec: podCliqueSpec('The pods that are wanted.'),
  status,
}
